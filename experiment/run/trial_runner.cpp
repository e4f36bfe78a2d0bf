#include "experiment/run/trial_runner.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/run_directory.h"
#include "experiment/plan/programs.h"
#include "experiment/plan/spread_roles.h"
#include "experiment/run/job_trial.h"
#include "experiment/run/kept_profiles.h"
#include "experiment/run/memory_warnings.h"
#include "experiment/trial/recorder_harm.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

}  // namespace

TrialRunner::TrialRunner(RunInProgress& run, const RunTrial& run_trial)
    : run_(run), run_trial_(run_trial) {
  site_.values = run.options().site_values;
  const fs::path directory = fs::absolute(run.store().directory()).lexically_normal();
  site_.trials_dir = directory / kTrialsFolder;
  site_.log_dir = directory / kLogsFolder;
  site_.environment = current_environment();
  if (is_spread(run.experiment())) site_.nodes = nodes_of_allocation(site_.environment);
  make_directory(site_.log_dir);
}

void TrialRunner::run(TrialSlot slot) {
  slot.id = run_.ledger().next_id();
  const PlannedTrial planned = plan_trial(run_.experiment(), slot, site_);
  const auto begin = std::chrono::steady_clock::now();
  TrialRun trial = run_whole_trial(planned, run_trial_, run_.store().directory());
  const std::size_t unrecordable = site_.unrecordable.size();
  for (auto& [role, why] : harmed_by_recorder(planned.plan, trial))
    site_.unrecordable.emplace(role, why);
  if (unrecordable < site_.unrecordable.size()) return run(slot);
  refuse_unreadable_input(trial);
  refuse_unmarked_rounds(trial);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  if (slot.kind == TrialKind::profile) keep_profiles_of(planned.plan, trial);
  if (slot.kind == TrialKind::warmup && trial.trial.status != TrialStatus::ok)
    trial.warnings.push_back({"warmup_failed",
                              fmt::format("the warm-up trial of arm {} failed: {}", trial.trial.arm,
                                          trial.trial.failure),
                              "the first trials that count may be those that warm files and "
                              "caches"});
  for (Note& note : take_memory_warnings(trial.trial)) trial.warnings.push_back(std::move(note));
  const bool is_surrounded = !planned.prepare.empty() || !planned.cleanup.empty();
  run_.add(trial,
           is_surrounded ? std::optional(all.count() - trial.trial.seconds()) : std::nullopt);
  if (trial.trial.status == TrialStatus::ok) fs::remove_all(planned.plan.trial_dir);
}

/// What such a job prepares is the same for every arm and trial.
void TrialRunner::refuse_unreadable_input(const TrialRun& trial) const {
  if (!run_.experiment().job.memduel_statuses ||
      trial.prepare_status != static_cast<int>(ExitCode::io))
    return;
  throw Error(ExitCode::io, trial.trial.failure, run_.store().directory().string());
}

/// Found out in the first trial: what is measured would not be what the config asks for.
void TrialRunner::refuse_unmarked_rounds(const TrialRun& trial) const {
  if (run_.ledger().trials() > 0 || trial.trial.status != TrialStatus::ok) return;
  for (const Note& note : trial.warnings)
    if (note.code == kNoRoundToStopAfter)
      throw Error(ExitCode::usage, note.message, "workload.stop_after_round",
                  note.advice + "; or leave stop_after_round out");
}

/// No profile is worth a run.
void TrialRunner::keep_profiles_of(const TrialPlan& plan, TrialRun& trial) const {
  const TracerEntry& entry = tracer_named(plan.tracer);
  try {
    for (const std::string& why : keep_profiles(plan, run_.store().directory() / kProfilesFolder))
      trial.warnings.push_back(
          {"profile_incomplete", fmt::format("{} under {}: {}", plan.arm, plan.tracer, why), ""});
  } catch (const Error& error) {
    trial.warnings.push_back({"profile_incomplete", error.message(), error.advice()});
  }
  if (!entry.allocator.empty())
    trial.limitations.push_back(
        {"tracer_replaces_allocator",
         fmt::format("profiles by {} are of the programs on {}, not on their own allocator",
                     entry.name, entry.allocator),
         ""});
  if (trial.trial.status != TrialStatus::ok)
    trial.warnings.push_back({"profile_failed",
                              fmt::format("the profile trial of arm {} under {} failed: {}",
                                          plan.arm, plan.tracer, trial.trial.failure),
                              ""});
}

}  // namespace memduel
