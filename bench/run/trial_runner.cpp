#include "experiment/run/job_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "experiment/plan/google_benchmark_output.h"
#include "experiment/run/artifacts.h"
#include "experiment/run/remote_roles.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// Long enough to remove gigabytes of files; nobody waits longer for a run that was interrupted.
constexpr double kCleanupSeconds = 60;

bool has_note(const std::vector<Note>& notes, const std::string& code) {
  return std::ranges::any_of(notes, [&](const Note& note) { return note.code == code; });
}

/// One command as a trial of one process without meters.
TrialPlan plan_of_step(const ProcessSpec& step, const TrialPlan& trial) {
  TrialPlan plan = trial;
  plan.processes = {step};
  plan.match.clear();
  plan.text_marks.clear();
  plan.ports.clear();
  plan.stop_after_round.reset();
  plan.rounds.reset();
  plan.meters.clear();
  return plan;
}

struct Prepared {
  std::optional<TrialRun> failed;  ///< of the first command that failed
  std::vector<Note> warnings;
};

Prepared prepare(const PlannedTrial& planned, const RunTrial& run_trial) {
  Prepared prepared;
  for (const ProcessSpec& step : planned.prepare) {
    TrialRun run = run_trial(plan_of_step(step, planned.plan));
    if (run.trial.status != TrialStatus::ok) {
      if (!run.trial.roles.empty()) run.prepare_status = run.trial.roles.front().exit_status;
      run.trial.roles.clear();
      run.limitations.clear();
      prepared.failed = std::move(run);
      return prepared;
    }
    if (has_note(run.warnings, kLeftOver)) {
      prepared.warnings.push_back(
          {"prepare_left_processes",
           fmt::format("{} left processes behind, which were ended before the trial", step.role),
           "start them as roles of the job"});
    }
  }
  return prepared;
}

/// Runs every command, also after one that failed.
std::vector<Note> clean_up(const PlannedTrial& planned, const RunTrial& run_trial) {
  std::vector<Note> warnings;
  for (const ProcessSpec& step : planned.cleanup) {
    TrialPlan plan = plan_of_step(step, planned.plan);
    plan.ignores_stop = true;
    plan.deadline_seconds = std::min(plan.deadline_seconds, kCleanupSeconds);
    const TrialRun run = run_trial(plan);
    if (run.trial.status == TrialStatus::ok) continue;
    warnings.push_back({"cleanup_failed", run.trial.failure,
                        "what it should have removed may change the trials that follow"});
  }
  return warnings;
}

void write_files(const PlannedTrial& planned) {
  std::error_code error;
  fs::remove_all(planned.plan.trial_dir, error);
  for (const auto& [path, text] : planned.files) make_directory(path.parent_path());
  make_directory(planned.plan.trial_dir);
  for (const auto& [path, text] : planned.files) write_file_atomically(path, text);
}

TrialRun prepared_trial(const PlannedTrial& planned, const RunTrial& run_trial,
                        const fs::path& run_directory) {
  Prepared prepared = prepare(planned, run_trial);
  if (prepared.failed) return std::move(*prepared.failed);
  const FileStamps before(planned.artifacts);
  TrialRun run = run_trial(planned.plan);
  take_remote_roles(planned.plan, run);
  run.warnings.insert(run.warnings.end(), prepared.warnings.begin(), prepared.warnings.end());
  if (run.trial.status != TrialStatus::ok) return run;
  if (const auto missing = before.first_not_written()) {
    run.trial.status = TrialStatus::failed;
    run.trial.failure = *missing;
    return run;
  }
  for (const Artifact& artifact : planned.artifacts)
    take_artifact(artifact, planned.plan, run_directory, run.trial);
  add_benchmarks(planned.plan, run);
  return run;
}

}  // namespace

TrialRun run_whole_trial(const PlannedTrial& planned, const RunTrial& run_trial,
                         const fs::path& run_directory) {
  write_files(planned);
  TrialRun run;
  std::exception_ptr thrown;
  try {
    run = prepared_trial(planned, run_trial, run_directory);
  } catch (...) {
    thrown = std::current_exception();
  }
  for (Note& warning : clean_up(planned, run_trial)) run.warnings.push_back(std::move(warning));
  if (thrown) std::rethrow_exception(thrown);
  return run;
}

}  // namespace memduel
