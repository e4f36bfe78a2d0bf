// What makes a run: one trial with all that surrounds it; an experiment's design, which is the
// warm-up block, then blocks of every arm once in random order, each trial stored as it ends; or a
// watch of a process tree, a command's or that of processes that are there already, with one arm
// and one trial.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment.h"
#include "external/tracers.h"
#include "run/plan.h"
#include "run/shares.h"
#include "run/store.h"
#include "trial/trial_plan.h"
#include "trial/watch.h"
#include "util/error.h"
#include "verdict/questions.h"
#include "verdict/so_far.h"

namespace memduel {

/// Runs `planned` in its trial directory, which is made anew. A command of prepare that fails, and
/// a file that was not left, fail the trial; a command of cleanup that fails is a warning. cleanup
/// runs in every case, also when `run_trial` throws. Files of trials that ended well are kept in
/// `run_directory`. Throws what `run_trial` throws, and Error(io) when a file cannot be written.
TrialRun run_whole_trial(const PlannedTrial& planned, const RunTrial& run_trial,
                         const std::filesystem::path& run_directory);

/// The block of a profile trial, which is of none.
inline constexpr int kProfileBlock = -1;

/// Whether `block` begins after `before`: the trials of a pair of blocks are in mixed order, and
/// profile trials come last.
constexpr bool is_next_block(int block, std::optional<int> before) {
  if (!before || *before == kProfileBlock) return !before;
  return block == kProfileBlock || block > *before;
}

/// Where a run stands, told before every trial and once at its end.
struct Progress {
  int done = 0;   ///< trials
  int total = 0;  ///< trials, when nothing stops the run early
  double elapsed_seconds = 0;
  std::optional<double> remaining_seconds;  ///< from the trials so far; absent before the first
  std::optional<double>
      disk_bytes;      ///< the most that the run directory may take, from the first trial
  std::string arm;     ///< about to run; empty at the end
  std::string tracer;  ///< of a profile trial
  /// After the last whole block; empty before two of them.
  std::vector<ChangeSoFar> changes;
  int block = 0;  ///< 0 is the warm-up block, kProfileBlock a profile trial
};

struct DriverOptions {
  std::map<std::string, std::string> site_values;  ///< {site:NAME} by NAME
  std::optional<Share> share;  ///< of a fixed, even number of blocks; absent: all of them
  /// The run ends after the pair of blocks that passes this time, less what the profile trials
  /// take.
  std::optional<double> max_minutes;
  int fewest_blocks = 1;              ///< that can decide; max_minutes must hold them
  std::optional<int> most_trials;     ///< after so many the run is paused, for --resume to go on
  const StopRequest* stop = nullptr;  ///< asks for an early end
  /// The command that goes on with this run, under another max_minutes or without it; absent where
  /// nobody knows it.
  std::function<std::string(std::optional<double> minutes)> resume_command;
  /// Asked after each of the first trials of a run, of which each variant has one or more: throws
  /// if they show that no other is worth its time.
  std::function<void(const RunData& first_trials)> check_first_trials;
  /// Asked once, between the warm-up and the first block of a run: throws where no block is worth
  /// its time.
  std::function<void(const RunData& warmups)> check_warmup;
  std::function<void(const Progress&)> progress;
  /// Asked after every whole block; true ends the run. Only in an adaptive design.
  std::function<bool(const RunData& so_far)> should_stop;
  /// Asked after the last block: arms that get a profile trial by the recorder even if the config
  /// asks for none. Blocks leave time for it.
  std::function<std::vector<std::string>(const RunData& so_far)> arms_to_profile;
  /// Whether a tracer can be used; absent: asks the registry.
  std::function<Availability(const TracerEntry&)> tracer_works;
  std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

enum class RunEnd { complete, settled, out_of_time, paused };

struct RunOutcome {
  int blocks = 0;  ///< whole ones, without the warm-up and dropped ones
  RunEnd end = RunEnd::complete;
};

/// Blocks that a run has at most: the config's repeats, or the last look of the adaptive design.
int planned_blocks(const Measure& measure);

/// Those of them that this run makes.
int own_blocks(const Measure& measure, const DriverOptions& options);

/// A profile trial under a tracer that samples records every allocation of an arm that makes no
/// more than these.
inline constexpr double kMostRecordedAllocations = 1e6;

/// Runs what the store does not hold yet. A failing candidate is recorded and the run goes on; a
/// fault of the harness drops its block, and another is run instead. Afterwards what the arms left
/// is compared. Throws Error(cannot_measure) when the baseline fails in every trial (at
/// least two) or the harness keeps failing, Error(usage) after the warm-up when max_minutes cannot
/// hold fewest_blocks, what check_first_trials and check_warmup throw, Error(interrupted or
/// terminated) on a signal, Error(io) when the run directory cannot be written. The store holds
/// every finished trial in all cases.
RunOutcome run_experiment(const Experiment& experiment, Store& store, const RunTrial& run_trial,
                          const DriverOptions& options);

/// Refuses a pattern that is none, and logs without one. Throws Error(usage) naming the option.
void check_round_pattern(const std::optional<std::string>& pattern, bool has_logs);

/// Refuses what cannot be watched before anything is started or written. Throws Error(usage).
void check_watch(const WatchOptions& options);

/// Watches to the end: the command's, that of all processes, the duration's, or SIGINT, SIGTERM and
/// SIGHUP, which are a command's to handle. The run in `directory` is kept up to date meanwhile,
/// so that one that is cut off is there as far as it went. Throws Error(usage) for options that
/// check_watch refuses, and for a command that cannot be executed; Error(cannot_measure) when
/// nothing was there to be measured; Error(io) when the directory cannot be written.
WatchResult watch(const WatchOptions& options);

}  // namespace memduel
