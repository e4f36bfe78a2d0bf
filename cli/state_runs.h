// Where a run goes without --out: the state directory. How commands find it there by its name, and
// when it may be deleted.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace memduel::cli {

/// $XDG_STATE_HOME/memduel/runs or ~/.local/state/memduel/runs; it may not exist yet. Throws
/// Error(usage) if neither variable is an absolute path.
std::filesystem::path runs_directory();

/// Makes NAME-TIME in runs_directory(), which no other process uses. It is removed when this
/// process ends, if it is then empty. Throws Error(io), and what runs_directory() throws.
std::filesystem::path make_run_directory(const std::string& name);

/// Keeps `memduel runs prune` of another process away from the directory until this process ends.
/// Throws Error(usage) if it is being deleted.
void claim_run(const std::filesystem::path& directory);

/// The directory of the run with this name; `given` itself if it is a path, or no run has the name.
/// "SUITE/EXPERIMENT" names a run of a suite.
std::string find_run(const std::string& given);

/// A run or a suite in the state directory.
struct StateRun {
  std::filesystem::path directory;
  std::time_t written = 0;                  ///< when its last trial was stored
  std::vector<std::filesystem::path> runs;  ///< its own directory, or those of a suite

  [[nodiscard]] std::string name() const { return directory.filename().string(); }
};

/// The newest first. Symlinks and directories without a run are omitted.
std::vector<StateRun> runs_in(const std::filesystem::path& directory);

/// What `memduel runs prune` deletes. Requires at least one of them.
struct PruneRule {
  std::optional<std::size_t> keep;  ///< not the newest N
  std::optional<std::int64_t> older_than_seconds;
};

/// @param newest_first as runs_in() returns them.
std::vector<StateRun> runs_to_prune(const std::vector<StateRun>& newest_first,
                                    const PruneRule& rule, std::time_t now);

/// Seconds of "90m", "12h", "30d" or "8w". Throws Error(usage) for anything else.
std::int64_t parse_age(const std::string& text);

/// Deletes what a run of this process wrote before it was refused, and its directory, except
/// worktrees, which their owner removes.
void discard_run(const std::filesystem::path& directory);

/// Whether a process measures the run.
bool is_running(const StateRun& run);

/// Deletes the run with its shards of Slurm, without following symlinks. False if a process uses
/// it. Throws Error(io); the rest of the run is then still a run.
bool delete_run(const StateRun& run);

}  // namespace memduel::cli
