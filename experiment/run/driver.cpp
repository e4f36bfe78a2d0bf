#include "experiment/run/driver.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "experiment/plan/programs.h"
#include "experiment/plan/python_settings.h"
#include "experiment/run/artifact_comparison.h"
#include "experiment/run/block_trials.h"
#include "experiment/run/profile_trials.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr int kAdaptiveBlocks = 16;  ///< the last look of the adaptive design

/// What can be said before the first trial.
void note_the_job(const Experiment& experiment, Store& store) {
  if (const auto warning = warning_of_equal_contents(experiment)) store.add_warning(*warning);
  if (const auto warning = warning_of_programs_elsewhere(experiment)) store.add_warning(*warning);
  if (const auto unpinned = unpinned_python(experiment))
    store.add_limitation(
        {"python_not_pinned", *unpinned, "set them in env to make results repeatable"});
}

void compare_what_was_left(RunInProgress& run, const fs::path& logs, const RunTrial& run_trial) {
  const auto comparison =
      compare_artifacts(run.experiment(), run.so_far(),
                        fs::absolute(run.store().directory()).lexically_normal(), logs, run_trial);
  run.store().set_artifact_differences(comparison.differences);
  for (const Note& warning : comparison.warnings) run.store().add_warning(warning);
}

void remove_if_empty(const fs::path& directory) {
  std::error_code not_empty;
  fs::remove(directory, not_empty);
}

}  // namespace

int planned_blocks(const Measure& measure) {
  return measure.repeats.value_or(kAdaptiveBlocks);
}

int own_blocks(const Measure& measure, const DriverOptions& options) {
  const int all = planned_blocks(measure);
  return options.share ? superblocks_of(*options.share, all).blocks() : all;
}

RunOutcome run_experiment(const Experiment& experiment, Store& store, const RunTrial& run_trial,
                          const DriverOptions& options) {
  RunInProgress run(experiment, store, options);
  TrialRunner runner(run, run_trial);
  note_the_job(experiment, store);
  ProfileTrials profiles(run, runner);
  const bool profiled = !options.share || options.share->number == 1;  // one of all shares
  if (!profiled) run.expect_profiles(0);
  BlockTrials blocks(run, runner);
  RunOutcome outcome;
  try {
    blocks.run_warmup();
    store.forget_notes(kOutOfTime);
    outcome = blocks.run_blocks(profiled ? profiles.rounds() : 0);
    if (outcome.end == RunEnd::out_of_time) store.add_warning(run.out_of_time(outcome.blocks));
    run.note_the_whole();
    if (profiled) profiles.run();
  } catch (const RunPaused&) {
    outcome.end = RunEnd::paused;
    run.tell("", run.ledger().last_block());
    return outcome;
  } catch (const Error& error) {
    // One that came in the middle of a trial knows nothing of the run.
    if (options.stop != nullptr && options.stop->asked() && error.advice().empty())
      throw run.stopped();
    throw;
  }
  compare_what_was_left(run, runner.site().log_dir, run_trial);
  remove_if_empty(runner.site().trials_dir);
  run.tell("", run.ledger().last_block());
  return outcome;
}

}  // namespace memduel
