#include "profilers/profile/record_command.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/scratch_directory.h"
#include "profilers/profile/run_command.h"

namespace memduel {

namespace {

std::filesystem::path output_of(const RecordOptions& options, const HeapCounters& image,
                                std::size_t number) {
  const std::string name = std::filesystem::path(options.argv[0]).filename().string();
  return numbered(options.output.value_or(fmt::format("{}.{}.mdp", name, image.pid)), number);
}

}  // namespace

RecordResult record_command(const RecordOptions& options) {
  if (options.argv.empty()) throw Error(ExitCode::usage, "no command to record");
  const std::filesystem::path program = find_program(options.argv[0]);
  RecordResult result;
  const std::string obstacle = program.empty() ? "" : obstacle_to_recording(program);
  std::filesystem::path beside = options.output ? options.output->parent_path() : ".";
  if (beside.empty()) beside = ".";
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
      [&](const HeapCounters& image, std::size_t number) {
        return output_of(options, image, number);
      },
      options.symbols);
  result.images = std::move(recorded.images);
  for (std::string& why : recorded.unreadable) result.notes.push_back(std::move(why));
  if (result.images.empty() && obstacle.empty()) {
    result.notes.push_back(fmt::format(
        "{} left no records: it never started a dynamically linked program, or its directory {} "
        "cannot be written by it",
        options.argv[0], beside.string()));
  }
  return result;
}

}  // namespace memduel
