#include "experiment/run/run_in_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/note_codes.h"
#include "base/printed_command.h"
#include "base/run_directory.h"
#include "base/text.h"
#include "experiment/contract/sampling_interval.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsPerMinute = 60;

/// With a little to spare, so that the next warm-up does not refuse them: in tenths below ten.
double enough_minutes(double seconds) {
  constexpr double kSpare = 1.05;
  constexpr double kTenth = 10;
  const double minutes = kSpare * seconds / kSecondsPerMinute;
  return minutes < kTenth ? std::ceil(minutes * kTenth) / kTenth : std::ceil(minutes);
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
      ledger_(*so_far_),
      start_(options.clock()) {}

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
  if (const auto apart = stored_interval_ms(run.trial.roles); apart && run.trial.counts())
    sample_intervals_ms_.push_back(*apart);
  if (overhead_seconds) ledger_.add_overhead(*overhead_seconds);
  if (!expected_disk_) expected_disk_ = expected_disk_bytes();
}

void RunInProgress::note_the_whole() {
  if (sample_intervals_ms_.empty()) return;
  store_.forget_notes(kSampledLessOften);
  const auto note = sampled_less_often(
      sample_intervals_ms_, experiment_.measure.interval_ms,
      "memduel samples less often while no memory moves, and to keep its own CPU time below 0.2% "
      "of the trial's; the peak of a single process is the kernel's and not sampled");
  if (note) store_.add_limitation(*note);
  so_far_.reset();
}

void RunInProgress::drop_block(int block) {
  store_.drop_block(block);
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
  const int planned = own_blocks(experiment_.measure, options_);
  const int fewest = options_.fewest_blocks;
  const int blocks = std::min(planned, fewest + fewest % 2);  // superblocks are never split
  const double profiles = *block * profile_rounds;
  const double elapsed = elapsed_seconds();
  const double needed = elapsed + *block * blocks + profiles;
  if (needed <= *options_.max_minutes * kSecondsPerMinute) return;
  throw Error(
      ExitCode::usage,
      fmt::format("found {:g}, expected at least {:g}: after the warm-up, which took {}, {} has {} "
                  "of {} each{}",
                  *options_.max_minutes, enough_minutes(needed), format_seconds(elapsed),
                  blocks == planned ? "the run" : "a run that can decide",
                  format_count(static_cast<std::size_t>(blocks), "block"), format_seconds(*block),
                  profile_rounds == 0 ? "" : ", and profile trials of " + format_seconds(profiles)),
      "--max-minutes", advice_to_resume(enough_minutes(needed)));
}

void RunInProgress::expect_worthwhile_blocks() {
  if (options_.check_warmup && ledger_.last_block() <= 0) options_.check_warmup(so_far());
}

std::string RunInProgress::advice_to_resume(std::optional<double> minutes) const {
  if (options_.resume_command)
    return with_command(minutes ? "go on, without a second warm-up, with" : "go on with",
                        options_.resume_command(minutes));
  return minutes ? fmt::format("give --max-minutes {:g} or more", *minutes)
                 : "run the same command again";
}

bool RunInProgress::is_out_of_time(int profile_rounds) const {
  return options_.max_minutes && elapsed_seconds() + block_seconds().value_or(0) * profile_rounds >=
                                     *options_.max_minutes * kSecondsPerMinute;
}

Note RunInProgress::out_of_time(int blocks) const {
  const char* most = experiment_.measure.repeats ? "" : "at most ";
  const bool is_past = is_out_of_time(0);
  return {kOutOfTime,
          fmt::format("the run ended after {} of {}{} blocks: {} had passed, {} --max-minutes {:g}",
                      blocks, most, own_blocks(experiment_.measure, options_),
                      format_seconds(elapsed_seconds()),
                      is_past ? "more than" : "and the profile trials need the rest of",
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
  progress.elapsed_seconds = elapsed_seconds();
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
