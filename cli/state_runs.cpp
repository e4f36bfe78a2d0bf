#include "state_runs.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <system_error>
#include <utility>

#include "model/run_directory.h"
#include "run/store.h"
#include "slurm.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGiveOut = "give --out DIR";

/// Directories that this process made for a run. Those that stay empty, because the run was refused
/// before it began, go with the process.
class MadeDirectories {
 public:
  MadeDirectories() = default;
  MadeDirectories(const MadeDirectories&) = delete;
  MadeDirectories& operator=(const MadeDirectories&) = delete;
  ~MadeDirectories() {
    std::error_code not_empty;
    for (const fs::path& made : made_) fs::remove(made, not_empty);
  }

  void add(const fs::path& directory) { made_.push_back(directory); }

 private:
  std::vector<fs::path> made_;
};

/// For the user only, since commands and logs are in it. False if it is there already.
bool make_private_directory(const fs::path& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU) == 0) return true;
  const int error = errno;
  if (error == EEXIST) return false;
  throw Error(ExitCode::io,
              "cannot make the output directory: " + std::generic_category().message(error),
              directory.string(), kGiveOut);
}

void make_runs_directory(const fs::path& directory) {
  std::error_code unreachable;
  if (fs::is_directory(directory, unreachable)) return;
  if (directory.has_relative_path()) make_runs_directory(directory.parent_path());
  make_private_directory(directory);
}

Descriptor open_directory(const fs::path& directory) {
  return Descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_real_directory(const fs::path& path) {
  std::error_code unreachable;
  return fs::is_directory(fs::symlink_status(path, unreachable));
}

std::vector<fs::path> directories_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (fs::directory_iterator entry(directory, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable))
    if (is_real_directory(entry->path())) found.push_back(entry->path());
  std::ranges::sort(found);
  return found;
}

std::time_t time_written(const fs::path& file) {
  struct stat found = {};
  return ::stat(file.c_str(), &found) == 0 ? found.st_mtime : 0;
}

std::optional<StateRun> run_or_suite(const fs::path& directory) {
  if (has_run(directory))
    return StateRun{directory, time_written(directory / kStoreFile), {directory}};
  if (!is_there(directory / kSuiteFile)) return std::nullopt;
  StateRun suite{directory, time_written(directory / kSuiteFile), {}};
  for (const fs::path& inside : directories_in(directory))
    if (has_run(inside)) {
      suite.written = std::max(suite.written, time_written(inside / kStoreFile));
      suite.runs.push_back(inside);
    }
  return suite;
}

/// What makes a directory a run is deleted last: an interrupted deletion can be repeated.
void delete_directory(const fs::path& directory) {
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name == kStoreFile || name == kSuiteFile) continue;
    fs::remove_all(entry->path(), failed);
    if (failed) break;
  }
  if (!failed) fs::remove_all(directory, failed);
  if (failed)
    throw Error(ExitCode::io, "cannot delete the run: " + failed.message(), directory.string());
}

}  // namespace

fs::path runs_directory() {
  const auto state = state_directory();
  if (!state)
    throw Error(ExitCode::usage,
                "expected a directory for runs, found neither XDG_STATE_HOME nor HOME", "",
                "give --out DIR, or set one of them to an absolute path");
  return *state / "runs";
}

fs::path make_run_directory(const std::string& name) {
  static MadeDirectories made;
  const fs::path runs = runs_directory();
  make_runs_directory(runs);
  const std::string stem =
      fmt::format("{}-{:%Y%m%d-%H%M%S}", file_name_for(name), fmt::localtime(std::time(nullptr)));
  fs::path directory = runs / stem;
  // Another memduel of the same second takes another name.
  for (int number = 2; !make_private_directory(directory); ++number)
    directory = runs / fmt::format("{}-{}", stem, number);
  made.add(directory);
  return directory;
}

void claim_run(const fs::path& directory) {
  static std::vector<Descriptor> claims;
  Descriptor claim = open_directory(directory);
  if (!claim) return;  // it is not there yet
  if (::flock(claim.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(ExitCode::usage, "memduel runs prune is deleting this run", directory.string(),
                "start a new run");
  claims.push_back(std::move(claim));
}

void discard_run(const fs::path& directory) {
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (entry->path().filename() != kWorktreesFolder) fs::remove_all(entry->path(), failed);
  fs::remove(directory, failed);
}

std::string find_run(const std::string& given) {
  const fs::path name = given;
  const bool leads_elsewhere =
      name.empty() || name.is_absolute() || std::ranges::find(name, "..") != name.end();
  const auto state = state_directory();
  if (leads_elsewhere || !state || is_there(name)) return given;
  const fs::path directory = *state / "runs" / name;
  return has_run(directory) ? directory.string() : given;
}

std::vector<StateRun> runs_in(const fs::path& directory) {
  std::vector<StateRun> runs;
  for (const fs::path& inside : directories_in(directory))
    if (auto run = run_or_suite(inside)) runs.push_back(std::move(*run));
  std::ranges::stable_sort(runs, [](const StateRun& a, const StateRun& b) {
    return a.written != b.written ? a.written > b.written : a.name() > b.name();
  });
  return runs;
}

std::vector<StateRun> runs_to_prune(const std::vector<StateRun>& newest_first,
                                    const PruneRule& rule, std::time_t now) {
  std::vector<StateRun> chosen;
  for (std::size_t at = rule.keep.value_or(0); at < newest_first.size(); ++at) {
    const StateRun& run = newest_first[at];
    if (!rule.older_than_seconds || now - run.written > *rule.older_than_seconds)
      chosen.push_back(run);
  }
  return chosen;
}

std::int64_t parse_age(const std::string& text) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kDay = 24 * 60 * kMinute;
  constexpr std::int64_t kMost = 1'000'000;
  static const std::map<std::string, std::int64_t> kUnits = {
      {"m", kMinute}, {"h", 60 * kMinute}, {"d", kDay}, {"w", 7 * kDay}};
  std::int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const auto unit = kUnits.find(std::string(rest, end));
  if (error != std::errc() || unit == kUnits.end() || number < 0 || number > kMost)
    throw Error(ExitCode::usage,
                fmt::format("expected an age such as 90m, 12h, 30d or 8w, found \"{}\"", text),
                "--older-than");
  return number * unit->second;
}

bool is_running(const StateRun& run) {
  return is_in_use(run.directory) || is_in_use(shares_directory(run.directory)) ||
         std::ranges::any_of(run.runs, is_in_use);
}

bool delete_run(const StateRun& run) {
  const Descriptor directory = open_directory(run.directory);
  if (!directory) fail_at(run.directory, "delete the run");
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0 || is_running(run)) return false;
  const fs::path shards = shares_directory(run.directory);
  if (is_real_directory(shards) && is_on_slurm(run.directory)) delete_directory(shards);
  delete_directory(run.directory);
  return true;
}

}  // namespace memduel::cli
