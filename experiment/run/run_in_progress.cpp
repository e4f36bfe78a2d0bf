#include "experiment/run/run_in_progress.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/run_directory.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::optional<double> directory_bytes(const fs::path& directory) {
  double bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code vanished;
    if (at->is_regular_file(vanished)) bytes += static_cast<double>(at->file_size(vanished));
  }
  return error ? std::nullopt : std::optional(bytes);
}

}  // namespace

RunInProgress::RunInProgress(const Experiment& experiment, Store& store,
                             const DriverOptions& options)
    : experiment_(experiment),
      store_(store),
      options_(options),
      so_far_(store.read()),
      ledger_(*so_far_) {}

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
  if (overhead_seconds) ledger_.add_overhead(*overhead_seconds);
  if (!expected_disk_) expected_disk_ = expected_disk_bytes();
}

void RunInProgress::drop_block(int block) {
  store_.drop_block(block);
  so_far_.reset();
}

bool RunInProgress::out_of_time(int times) const {
  if (!options_.max_minutes) return false;
  constexpr double kSecondsPerMinute = 60;
  const double elapsed = seconds_since(start_);
  // With what passes between trials.
  const double each = trials_here_ == 0 ? 0 : elapsed / trials_here_;
  const double needed = std::max(ledger_.trial_seconds().value_or(0), each) *
                        static_cast<double>(arm_count()) * times;
  return elapsed + needed > *options_.max_minutes * kSecondsPerMinute;
}

void RunInProgress::expect_another_trial() const {
  if (options_.most_trials && trials_here_ >= *options_.most_trials) throw RunPaused();
  if (options_.stop == nullptr || !options_.stop->asked()) return;
  throw options_.stop->error("stopped by a signal", store_.directory().string(), kResumeAdvice);
}

int RunInProgress::total_trials() const {
  const int blocks = own_blocks(experiment_.measure, options_) + experiment_.measure.warmups +
                     static_cast<int>(ledger_.dropped());
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

void RunInProgress::tell(const std::string& arm, int block, const std::string& tracer) const {
  if (!options_.progress) return;
  Progress progress;
  progress.done = ledger_.trials();
  progress.total = total_trials();
  progress.elapsed_seconds = seconds_since(start_);
  if (const auto each = ledger_.trial_seconds())
    progress.remaining_seconds = *each * (progress.total - progress.done);
  progress.disk_bytes = expected_disk_;
  progress.arm = arm;
  progress.block = block;
  progress.tracer = tracer;
  for (const Arm& one : experiment_.arms)
    if (auto peaks = ledger_.job_peaks(one.name); !peaks.empty())
      progress.peaks.emplace_back(one.name, std::move(peaks));
  options_.progress(progress);
}

}  // namespace memduel
