#include "profilers/profile/capture/record_command.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/scratch_directory.h"
#include "profilers/profile/capture/image_files.h"
#include "profilers/profile/capture/run_command.h"

namespace memduel {

namespace {

namespace fs = std::filesystem;

/// An image that could not make its file counts all the same.
std::string without_profiles(const RecordedImages& recorded, const fs::path& directory) {
  const auto counted = std::ranges::count_if(recorded.images, [](const RecordedImage& image) {
    return !image.file && image.counters.mode == "count";
  });
  if (counted == 0) return "";
  return fmt::format(
      "{} of {} images could make no profile in {}, so they were only counted; is "
      "its file system full (df, df -i)?",
      counted, recorded.images.size(), directory.string());
}

}  // namespace

RecordResult record_command(const RecordOptions& options) {
  if (options.argv.empty()) throw Error(ExitCode::usage, kNoCommand);
  const fs::path program = find_program(options.argv[0]);
  if (options.output && (fs::is_directory(*options.output) || !options.output->has_filename()))
    throw Error(ExitCode::usage, "found a directory, expected the name of a file",
                options.output->string(), "-o train.mdp");
  RecordResult result;
  ImageFiles files(options.output, fs::path(options.argv[0]).filename().string());
  const std::string obstacle = program.empty() ? "" : obstacle_to_recording(program);
  const fs::path beside = files.workplace();
  for (const fs::path& left : abandoned_scratch(beside, kRecordScratch))
    result.notes.push_back(left.string() +
                           " is left of a recording that was killed; delete it when its command "
                           "has ended");
  const ScratchDirectory workplace(beside, kRecordScratch);
  admit_other_users(workplace.path());
  if (obstacle.empty()) {
    const char* others = std::getenv("LD_PRELOAD");
    result.status = run_command(
        options.argv,
        recording_environment(options.preload, workplace.path(), others == nullptr ? "" : others));
  } else {
    result.status = run_command(options.argv, {});
    result.notes.push_back(fmt::format(
        "{} was not recorded: {}{}", program.string(), obstacle,
        obstacle == kStaticGo ? "; to see inside its heap, " + to_see_go_heap() : std::string()));
  }
  std::error_code unreadable;
  if (!fs::exists(workplace.path(), unreadable)) {
    result.notes.push_back(workplace.path().string() +
                           " is gone, and with it what was recorded: the command removed it");
    return result;
  }
  const KeepImages keep = {
      [&](const ImagePlan& plan, std::size_t number) { return files.file_of(plan, number); },
      [&](const ImagePlan& plan, std::size_t number, std::string_view bytes) {
        return files.keep(plan, number, bytes);
      }};
  RecordedImages recorded = finish_images(workplace.path(), keep, options.symbols);
  if (options.preload.mode != RecordMode::count) {
    if (std::string why = without_profiles(recorded, beside); !why.empty())
      result.notes.push_back(std::move(why));
  }
  const bool left_nothing = recorded.images.empty() && recorded.unreadable.empty();
  result.images = std::move(recorded.images);
  for (std::string& why : recorded.unreadable) result.notes.push_back(std::move(why));
  for (std::string& what : files.finish(result.images)) result.notes.push_back(std::move(what));
  if (options.preload.mode != RecordMode::count && obstacle.empty() &&
      ::dlsym(RTLD_DEFAULT, "_dl_find_object") == nullptr)
    result.notes.emplace_back(
        "stacks are one frame deep: glibc finds a program's parts without a lock "
        "since version 2.35");
  for (const RecordedImage& image : result.images) {
    if (image.counters.shut_out)
      result.notes.push_back(fmt::format(
          "{} [{}] started another program as a user who may not write to {}: that program was not "
          "recorded; give -o in a directory that everybody may enter",
          image.counters.program, image.counters.pid, beside.string()));
    if (!image.counters.left_behind) continue;
    result.notes.push_back(fmt::format(
        "{} [{}] started another program with an environment of its own, as env -i does: that "
        "program was not recorded",
        image.counters.program, image.counters.pid));
  }
  if (left_nothing && obstacle.empty()) {
    result.notes.push_back(fmt::format(
        "{} left no records: it never started a dynamically linked program, or its directory {} "
        "cannot be written by it",
        options.argv[0], beside.string()));
  }
  return result;
}

}  // namespace memduel
