#include "profilers/profile/record_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_directory.h"
#include "profilers/profile/run_command.h"
#include "profilers/profile/trace_file.h"

namespace memduel {

namespace {

namespace fs = std::filesystem;

/// The files of a recording: the first image's, which the user may name, and those beside it.
class OutputFiles {
 public:
  explicit OutputFiles(const RecordOptions& options) : options_(options) {}

  /// Where the recorder may leave what is not finished.
  [[nodiscard]] fs::path workplace() const {
    if (!options_.output) return ".";
    if (is_written_through(*options_.output)) return fs::temp_directory_path();
    return options_.output->has_parent_path() ? options_.output->parent_path() : ".";
  }

  std::optional<fs::path> keep(const HeapCounters& image, std::size_t number,
                               std::string_view bytes) {
    const std::string name = fs::path(options_.argv[0]).filename().string();
    const fs::path first = options_.output.value_or(fmt::format("{}.{}.mdp", name, image.pid));
    if (number > 1 && is_written_through(first)) {
      ++without_file_;
      return std::nullopt;
    }
    fs::path file = numbered(first, number);
    if (fs::is_regular_file(file)) replaced_.push_back(file.string());
    write_named_file(file, bytes);
    written_ = number;
    return file;
  }

  /// Removes what an earlier recording left beside the first file; says what is gone of it.
  std::vector<std::string> replace_the_rest() {
    std::vector<std::string> notes;
    if (without_file_ > 0)
      notes.push_back(fmt::format("{} later images have no profile: {} is no place for a second",
                                  without_file_, options_.output->string()));
    if (!replaced_.empty()) notes.push_back(fmt::format("replaced {}", fmt::join(replaced_, ", ")));
    if (!options_.output || written_ == 0 || is_written_through(*options_.output)) return notes;
    std::vector<std::string> removed;
    for (std::size_t number = written_ + 1;; ++number) {
      const fs::path file = numbered(*options_.output, number);
      if (!is_trace_file(file)) break;
      fs::remove(file);
      removed.push_back(file.string());
    }
    if (!removed.empty())
      notes.push_back(fmt::format("removed {}, of an earlier recording", fmt::join(removed, ", ")));
    return notes;
  }

 private:
  const RecordOptions& options_;
  std::vector<std::string> replaced_;
  std::size_t written_ = 0;
  std::size_t without_file_ = 0;
};

}  // namespace

RecordResult record_command(const RecordOptions& options) {
  if (options.argv.empty()) throw Error(ExitCode::usage, "no command to record");
  const fs::path program = find_program(options.argv[0]);
  if (options.output && (fs::is_directory(*options.output) || !options.output->has_filename()))
    throw Error(ExitCode::usage, "found a directory, expected the name of a file",
                options.output->string(), "-o train.mdp");
  RecordResult result;
  OutputFiles files(options);
  const std::string obstacle = program.empty() ? "" : obstacle_to_recording(program);
  const fs::path beside = files.workplace();
  const ScratchDirectory workplace(beside, ".memduel-record");
  if (obstacle.empty()) {
    const char* others = std::getenv("LD_PRELOAD");
    result.status = run_command(
        options.argv,
        recording_environment(options.preload, workplace.path(), others == nullptr ? "" : others));
  } else {
    result.status = run_command(options.argv, {});
    result.notes.push_back(fmt::format("{} was not recorded: {}", program.string(), obstacle));
  }
  RecordedImages recorded = finish_images(
      workplace.path(),
      [&](const HeapCounters& image, std::size_t number, std::string_view bytes) {
        return files.keep(image, number, bytes);
      },
      options.symbols);
  result.images = std::move(recorded.images);
  for (std::string& why : recorded.unreadable) result.notes.push_back(std::move(why));
  for (std::string& what : files.replace_the_rest()) result.notes.push_back(std::move(what));
  if (result.images.empty() && obstacle.empty()) {
    result.notes.push_back(fmt::format(
        "{} left no records: it never started a dynamically linked program, or its directory {} "
        "cannot be written by it",
        options.argv[0], beside.string()));
  }
  return result;
}

}  // namespace memduel
