// One trial with all that surrounds it: its files are written, prepare runs, what it must leave is
// kept, cleanup runs, its roles' warnings about memory are taken out, and it is stored.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>

#include "artifacts.h"
#include "google_benchmark_output.h"
#include "model/metric_catalogue.h"
#include "model/run_directory.h"
#include "remote_roles.h"
#include "run/plan.h"
#include "run/run.h"
#include "run/store.h"
#include "run_in_progress.h"
#include "trial/supervisor.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

struct WarningLevel {
  const char* gauge;
  const char* code;
  const char* words;
};

constexpr WarningLevel kWarningLevels[] = {
    {kMemoryWarningGauge, "memory_warning", "memory ran short"},
    {kMemoryCriticalGauge, "memory_critical", "memory was critically short"}};

/// More are counted, not listed.
constexpr std::size_t kMostRoundsNamed = 10;

std::string rounds_in_words(const std::vector<int>& rounds) {
  const std::size_t named = std::min(rounds.size(), kMostRoundsNamed);
  const std::vector<int> first(rounds.begin(), rounds.begin() + static_cast<std::ptrdiff_t>(named));
  std::string text =
      fmt::format("{} {}", rounds.size() == 1 ? "round" : "rounds", fmt::join(first, ", "));
  if (rounds.size() > named) text += fmt::format(" and {} more", rounds.size() - named);
  return text;
}

std::optional<Note> take_warning(const TrialData& trial, RoleData& role,
                                 const WarningLevel& level) {
  std::vector<int> rounds;
  double most = 0;
  for (const RoundData& round : role.rounds) {
    const auto used = round.metrics.value(level.gauge);
    if (!used) continue;
    rounds.push_back(round.round);
    most = std::max(most, *used);
  }
  role.metrics.erase(level.gauge);
  if (rounds.empty()) return std::nullopt;
  return Note{level.code,
              fmt::format("trial {}, variant {}: {} for {} in {}: at most {:.1f}% used", trial.id,
                          trial.arm, level.words, role.role, rounds_in_words(rounds), 100 * most),
              "see its stderr in logs/ for the cause"};
}

}  // namespace

std::vector<Note> take_memory_warnings(TrialData& trial) {
  std::vector<Note> notes;
  for (RoleData& role : trial.roles)
    for (const WarningLevel& level : kWarningLevels)
      if (auto note = take_warning(trial, role, level)) notes.push_back(std::move(*note));
  return notes;
}

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
           fmt::format("{} left processes behind, which were killed before the trial", step.role),
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
    warnings.push_back(
        {"cleanup_failed", run.trial.failure, "its leftovers may affect later trials"});
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
                              fmt::format("the warm-up trial of variant {} failed: {}",
                                          trial.trial.arm, trial.trial.failure),
                              "the first measured trials may be slower, because files and "
                              "caches are not warm"});
  for (Note& note : take_memory_warnings(trial.trial)) trial.warnings.push_back(std::move(note));
  const bool is_surrounded = !planned.prepare.empty() || !planned.cleanup.empty();
  run_.add(trial,
           is_surrounded ? std::optional(all.count() - trial.trial.seconds()) : std::nullopt);
  if (trial.trial.status == TrialStatus::ok) fs::remove_all(planned.plan.trial_dir);
}

/// What such a job prepares is the same for every arm and trial.
void TrialRunner::refuse_unreadable_input(const TrialRun& trial) const {
  if (!run_.experiment().config.workload.job.memduel_statuses ||
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
                  note.advice + "; or omit stop_after_round");
}

/// No profile is worth a run.
void TrialRunner::keep_profiles_of(const TrialPlan& plan, TrialRun& trial) const {
  const TracerEntry& entry = tracer_named(plan.tracer);
  try {
    for (const std::string& why :
         keep_profiles(plan, trial.matched, run_.store().directory() / kProfilesFolder))
      trial.warnings.push_back(
          {"profile_incomplete", fmt::format("{} with {}: {}", plan.arm, plan.tracer, why), ""});
  } catch (const Error& error) {
    trial.warnings.push_back({"profile_incomplete", error.message(), error.advice()});
  }
  if (!entry.allocator.empty())
    trial.limitations.push_back(
        {"profiler_replaces_allocator",
         fmt::format("{} profiles the programs with {}, not with their own allocator", entry.name,
                     entry.allocator),
         ""});
  if (trial.trial.status != TrialStatus::ok)
    trial.warnings.push_back({"profile_failed",
                              fmt::format("the profiled trial of variant {} with {} failed: {}",
                                          plan.arm, plan.tracer, trial.trial.failure),
                              ""});
}

}  // namespace memduel
