#include "named_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "model/run_directory.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNameAnother = "name another file";

/// The files of SQLite beside run.sqlite begin with its name.
constexpr std::array kFilesOfRuns = {kConfigFile, kResultsFile,     kReportFile, kLockFile,
                                     kSuiteFile,  kCalibrationFile, kSuitePage};
constexpr std::array kFoldersOfRuns = {kLogsFolder,  kProfilesFolder, kModelsFolder,
                                       kFilesFolder, kTrialsFolder,   kWorktreesFolder};

/// Absolute and without links, also of a file that is not there yet.
fs::path place_of(const fs::path& path) {
  std::error_code failed;
  const fs::path behind = fs::absolute(file_behind(path), failed);
  fs::path place = fs::weakly_canonical(behind, failed);
  return failed ? behind.lexically_normal() : place;
}

/// Of a directory: "runs/x/" is "runs/x".
fs::path place_of_directory(const fs::path& directory) {
  fs::path place = place_of(directory / ".").lexically_normal();
  return place.has_filename() ? place : place.parent_path();
}

bool is_directory_of_run(const fs::path& directory) {
  return is_there(directory / kStoreFile) || is_there(directory / kSuiteFile) ||
         (is_there(directory / kResultsFile) && is_there(directory / kReportFile));
}

/// What `memduel flamegraph` writes beside a profile is nothing that a run left.
bool is_page_beside_profile(const fs::path& inside) {
  return *inside.begin() == kProfilesFolder && inside.extension() == ".html" &&
         std::distance(inside.begin(), inside.end()) == 2;
}

/// @param inside a path below a run's directory.
bool is_of_run(const fs::path& inside) {
  const std::string first = inside.begin()->string();
  const bool is_folder = std::ranges::find(kFoldersOfRuns, first) != kFoldersOfRuns.end();
  if (is_folder) return !is_page_beside_profile(inside);
  return first.starts_with(kStoreFile) ||
         std::ranges::find(kFilesOfRuns, first) != kFilesOfRuns.end();
}

bool is_place_of_run(const fs::path& place, const Kept& kept) {
  const fs::path own = kept.run ? place_of_directory(*kept.run) : fs::path();
  const fs::path own_shares = own.string() + kShardsSuffix;
  for (fs::path directory = place.parent_path(); directory.has_relative_path();
       directory = directory.parent_path()) {
    const bool is_shares =
        is_there(directory / kSlurmFile) || (kept.run && directory == own_shares);
    const bool is_run = is_directory_of_run(directory) || (kept.run && directory == own);
    if (is_shares || (is_run && is_of_run(place.lexically_relative(directory)))) return true;
  }
  return false;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code absent;
  return fs::equivalent(a, b, absent);
}

/// A second name of a file that lies in a directory which the command knows.
bool is_link_into(const fs::path& file, const fs::path& directory) {
  struct stat found = {};
  if (::stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_nlink < 2)
    return false;
  std::error_code unreadable;
  for (auto entry = fs::recursive_directory_iterator(directory, unreadable);
       entry != fs::recursive_directory_iterator(); entry.increment(unreadable))
    if (is_same_file(entry->path(), file)) return true;
  return false;
}

void refuse_file_of_run(const fs::path& path, const Kept& kept) {
  bool is_linked = kept.run && is_link_into(path, *kept.run);
  for (const fs::path& input : kept.inputs) is_linked = is_linked || is_link_into(path, input);
  if (is_linked || is_place_of_run(place_of(path), kept))
    throw Error(ExitCode::usage, "cannot write over a file of a run", path.string(), kNameAnother);
}

void refuse_input(const fs::path& path, const Kept& kept) {
  for (const fs::path& input : kept.inputs)
    if (is_same_file(path, input) || place_of(path) == place_of(input))
      throw Error(ExitCode::usage, "cannot write over a file that this command reads",
                  path.string(), kNameAnother);
}

[[noreturn]] void fail_to_write(const fs::path& path, int number, const std::string& advice) {
  throw Error(ExitCode::io, "cannot write: " + std::generic_category().message(number),
              path.string(), advice);
}

/// A run makes its own directory before anything is written there.
void expect_writable(const fs::path& path, const Kept& kept) {
  std::error_code unreadable;
  if (fs::is_directory(path, unreadable))
    throw Error(ExitCode::usage, "expected a file to write, found a directory", path.string(),
                kNameAnother);
  if (is_written_through(path)) {
    if (::access(path.c_str(), W_OK) != 0) fail_to_write(path, errno, kNameAnother);
    return;
  }
  const fs::path folder = place_of(path).parent_path();
  struct stat found = {};
  if (::stat(folder.c_str(), &found) != 0) {
    if (errno != ENOENT) fail_to_write(path, errno, kNameAnother);
    if (kept.run && folder == place_of_directory(*kept.run)) return;
    throw Error(ExitCode::io,
                fmt::format("cannot write: there is no directory {}", folder.string()),
                path.string(), "make the directory, or name another file");
  }
  if (!S_ISDIR(found.st_mode)) fail_to_write(path, ENOTDIR, kNameAnother);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail_to_write(path, errno, kNameAnother);
}

}  // namespace

NamedFile::NamedFile(fs::path path, const Kept& kept) : path_(std::move(path)) {
  refuse_file_of_run(path_, kept);
  refuse_input(path_, kept);
  expect_writable(path_, kept);
}

void NamedFile::write(std::string_view bytes) const {
  write_named_file(path_, bytes);
}

void check_named_files(const std::vector<std::string>& files, const Kept& kept) {
  std::map<fs::path, std::string> names;  // by place
  for (const std::string& file : files) {
    const NamedFile named(file, kept);
    if (is_written_through(named.path())) continue;
    const auto [other, is_new] = names.emplace(place_of(named.path()), file);
    if (!is_new)
      throw Error(ExitCode::usage,
                  fmt::format("found two outputs to one file, {} and {}", other->second, file), "",
                  "name a file for each");
  }
}

}  // namespace memduel::cli
