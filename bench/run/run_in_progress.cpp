#include "run_in_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "model/run_directory.h"
#include "sampling_interval.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {

Ledger::Ledger(const RunData& run) {
  for (const TrialData& trial : run.trials) add(trial);
}

void Ledger::add(const TrialData& trial) {
  constexpr double kNanoseconds = 1e9;
  next_id_ = std::max(next_id_, trial.id + 1);
  seconds_ += static_cast<double>(trial.end_ns - trial.begin_ns) / kNanoseconds;
  ++trials_;
  if (trial.kind == TrialKind::profile) {
    ++profiles_[{trial.arm, trial.tracer}];
    return;
  }
  last_block_ = std::max(last_block_, trial.block);
  arms_done_[trial.block].insert(trial.arm);
  if (trial.kind == TrialKind::warmup) ++warmups_[trial.arm];
  if (trial.harness_fault || trial.status == TrialStatus::dropped) dropped_.insert(trial.block);
  count_allocations(trial);
  note_peaks(trial);
  auto& outcome = outcomes_[trial.arm];
  if (trial.status == TrialStatus::ok && !trial.harness_fault) {
    ++(trial.kind == TrialKind::warmup ? outcome.ok_warmups : outcome.ok);
  } else if (trial.status != TrialStatus::dropped && !trial.harness_fault) {
    ++outcome.failed;
    outcome.failure = trial.failure;
    outcome.file_failed = std::ranges::any_of(trial.roles, [](const RoleData& role) {
      return role.exit_status == static_cast<int>(ExitCode::io);
    });
  }
}

void Ledger::count_allocations(const TrialData& trial) {
  for (const RoleData& role : trial.roles)
    if (const auto count = role.metrics.value(kAllocationCount))
      allocations_ = std::max(allocations_.value_or(0), *count);
}

void Ledger::note_peaks(const TrialData& trial) {
  if (!trial.counts()) return;
  for (const RoleData& role : trial.roles) {
    auto peak = role.metrics.value(kPeakRss);
    if (const auto largest = role.metrics.value(kPeakLargestProcess); largest && role.role != kTree)
      peak = largest;
    if (peak) peaks_[trial.arm][role.role].push_back(*peak);
  }
}

std::map<std::string, double> Ledger::peaks(const std::string& arm) const {
  std::map<std::string, double> least;
  const auto found = peaks_.find(arm);
  if (found == peaks_.end()) return least;
  for (const auto& [role, peaks] : found->second) least[role] = std::ranges::min(peaks);
  return least;
}

void Ledger::add_overhead(double seconds) {
  ++overheads_;
  overhead_seconds_ += std::max(0.0, seconds);
}

bool Ledger::has(int block, const std::string& arm) const {
  const auto found = arms_done_.find(block);
  return found != arms_done_.end() && found->second.contains(arm);
}

int Ledger::warmups(const std::string& arm) const {
  const auto found = warmups_.find(arm);
  return found == warmups_.end() ? 0 : found->second;
}

int Ledger::profiles(const std::string& arm, const std::string& tracer) const {
  const auto found = profiles_.find({arm, tracer});
  return found == profiles_.end() ? 0 : found->second;
}

Ledger::Outcome Ledger::outcome(const std::string& arm) const {
  const auto found = outcomes_.find(arm);
  return found == outcomes_.end() ? Outcome{} : found->second;
}

std::optional<double> Ledger::trial_seconds() const {
  if (trials_ == 0) return std::nullopt;
  return seconds_ / trials_ + (overheads_ == 0 ? 0 : overhead_seconds_ / overheads_);
}

namespace {

constexpr double kSecondsPerMinute = 60;

/// With a little to spare, so that the next warm-up does not refuse them: in tenths below ten.
double enough_minutes(double seconds) {
  constexpr double kSpare = 1.05;
  constexpr double kTenth = 10;
  const double minutes = kSpare * seconds / kSecondsPerMinute;
  return minutes < kTenth ? std::ceil(minutes * kTenth) / kTenth : std::ceil(minutes);
}

}  // namespace

RunInProgress::RunInProgress(const Experiment& experiment, Store& store,
                             const DriverOptions& options)
    : experiment_(experiment),
      store_(store),
      options_(options),
      so_far_(store.read()),
      ledger_(*so_far_),
      change_so_far_(experiment.config, experiment.facts, settings_from_config(experiment.config)),
      start_(options.clock()) {
  for (const TrialData& trial : so_far_->trials) change_so_far_.add(trial);
}

const RunData& RunInProgress::so_far() {
  if (!so_far_) so_far_ = store_.read();
  return *so_far_;
}

void RunInProgress::add(const TrialRun& run, std::optional<double> overhead_seconds) {
  ++trials_here_;
  for (const Note& note : run.limitations) store_.add_limitation(note);
  for (const Note& note : run.warnings) store_.add_warning(note);
  store_.add_trial(run.trial);
  so_far_.reset();
  ledger_.add(run.trial);
  change_so_far_.add(run.trial);
  if (const auto apart = stored_interval_ms(run.trial.roles); apart && run.trial.counts())
    sample_intervals_ms_.push_back(*apart);
  if (overhead_seconds) ledger_.add_overhead(*overhead_seconds);
  if (!expected_disk_) expected_disk_ = expected_disk_bytes();
}

void RunInProgress::note_the_whole() {
  if (sample_intervals_ms_.empty()) return;
  store_.forget_notes(kSampledLessOften);
  const auto note = sampled_less_often(
      sample_intervals_ms_, experiment_.config.measure.interval_ms,
      "memduel samples less often while memory does not change, and to keep its CPU time below "
      "0.2% "
      "of the trial's; the peak of a single process comes from the kernel and is exact");
  if (note) store_.add_limitation(*note);
  so_far_.reset();
}

void RunInProgress::drop_block(int block) {
  store_.drop_block(block);
  change_so_far_.drop(block);
  so_far_.reset();
}

double RunInProgress::elapsed_seconds() const {
  return std::chrono::duration<double>(options_.clock() - start_).count();
}

/// With what passes between trials; absent before the first trial.
std::optional<double> RunInProgress::block_seconds() const {
  const auto trial = ledger_.trial_seconds();
  if (!trial) return std::nullopt;
  const double each = trials_here_ == 0 ? 0 : elapsed_seconds() / trials_here_;
  return std::max(*trial, each) * static_cast<double>(arm_count());
}

void RunInProgress::expect_time(int profile_rounds) const {
  const auto block = block_seconds();
  if (!options_.max_minutes || !block || ledger_.last_block() > 0) return;
  const int planned = own_blocks(experiment_.config.measure, options_);
  const int fewest = options_.fewest_blocks;
  const int blocks = std::min(planned, fewest + fewest % 2);  // superblocks are never split
  const double profiles = *block * profile_rounds;
  const double elapsed = elapsed_seconds();
  const double needed = elapsed + *block * blocks + profiles;
  if (needed <= *options_.max_minutes * kSecondsPerMinute) return;
  throw Error(
      ExitCode::usage,
      fmt::format(
          "expected at least {:g}, found {:g}: after the warm-up, which took {}, {} needs {} "
          "each, {} for one trial of each variant{}",
          enough_minutes(needed), *options_.max_minutes, format_seconds(elapsed),
          blocks == planned ? "the run" : "a decision",
          format_count(static_cast<std::size_t>(blocks), "trial"), format_seconds(*block),
          profile_rounds == 0 ? "" : ", and profiled trials of " + format_seconds(profiles)),
      "--max-minutes", advice_to_resume(enough_minutes(needed)));
}

void RunInProgress::expect_worthwhile_blocks() {
  if (options_.check_warmup && ledger_.last_block() <= 0) options_.check_warmup(so_far());
}

std::string RunInProgress::advice_to_resume(std::optional<double> minutes) const {
  if (options_.resume_command)
    return with_command(minutes ? "to continue without a second warm-up, run" : "to continue, run",
                        options_.resume_command(minutes));
  return minutes ? fmt::format("use --max-minutes {:g} or more", *minutes)
                 : "run the same command again";
}

bool RunInProgress::is_out_of_time(int profile_rounds) const {
  return options_.max_minutes && elapsed_seconds() + block_seconds().value_or(0) * profile_rounds >=
                                     *options_.max_minutes * kSecondsPerMinute;
}

Note RunInProgress::out_of_time(int blocks) const {
  const char* most = experiment_.config.measure.repeats ? "" : "at most ";
  const bool is_past = is_out_of_time(0);
  return {kOutOfTime,
          fmt::format(
              "the run ended after {} of {}{} trials each: {} had passed, {} --max-minutes {:g}",
              blocks, most, own_blocks(experiment_.config.measure, options_),
              format_seconds(elapsed_seconds()),
              is_past ? "more than" : "and the profiled trials need the rest of",
              *options_.max_minutes),
          advice_to_resume()};
}

void RunInProgress::expect_another_trial() const {
  if (options_.most_trials && trials_here_ >= *options_.most_trials) throw RunPaused();
  if (options_.stop == nullptr || !options_.stop->asked()) return;
  throw stopped();
}

Error RunInProgress::stopped() const {
  return options_.stop->error("stopped by a signal", store_.directory().string(),
                              advice_to_resume());
}

int RunInProgress::total_trials() const {
  const int blocks = own_blocks(experiment_.config.measure, options_) +
                     experiment_.config.measure.warmups + static_cast<int>(ledger_.dropped());
  return blocks * static_cast<int>(arm_count()) + profiles_expected_;
}

std::optional<double> RunInProgress::expected_disk_bytes() const {
  const auto bytes = directory_bytes(store_.directory());
  if (!bytes || ledger_.trials() == 0) return {};
  double passing = 0;  // the trial's own directory goes with the trial, worktrees with the run
  for (const char* folder : {kTrialsFolder, kWorktreesFolder})
    passing += directory_bytes(store_.directory() / folder).value_or(0);
  return (*bytes - passing) / ledger_.trials() * total_trials() + passing;
}

void RunInProgress::tell(const std::string& arm, int block, const std::string& tracer) {
  if (!options_.progress) return;
  Progress progress;
  progress.done = ledger_.trials();
  progress.total = total_trials();
  progress.elapsed_seconds = elapsed_seconds();
  if (const auto each = ledger_.trial_seconds())
    progress.remaining_seconds = *each * (progress.total - progress.done);
  progress.disk_bytes = expected_disk_;
  progress.arm = arm;
  progress.block = block;
  progress.tracer = tracer;
  if (arm.empty() || is_next_block(block, estimated_before_)) {
    changes_ = change_so_far_.changes();
    estimated_before_ = block;
  }
  progress.changes = changes_;
  options_.progress(progress);
}

}  // namespace memduel
