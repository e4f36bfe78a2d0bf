#include "experiment/run/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "experiment/plan/block_order.h"
#include "experiment/plan/final_models.h"
#include "experiment/plan/programs.h"
#include "experiment/plan/python_settings.h"
#include "experiment/run/dead_baseline.h"
#include "experiment/run/file_comparison.h"
#include "experiment/run/job_trial.h"
#include "experiment/run/kept_profiles.h"
#include "experiment/run/ledger.h"
#include "experiment/run/memory_warnings.h"
#include "experiment/trial/recorder_harm.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr int kAdaptiveBlocks = 16;    ///< the last look of the adaptive design
constexpr int kMostDroppedBlocks = 3;  ///< a harness that fails more often is not believed
constexpr int kBaselineChances = 2;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double seconds_of(const TrialData& trial) {
  return static_cast<double>(trial.end_ns - trial.begin_ns) * 1e-9;
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

class Driver {
 public:
  Driver(const Experiment& experiment, Store& store, const RunTrial& run_trial,
         const DriverOptions& options)
      : experiment_(experiment),
        store_(store),
        run_trial_(run_trial),
        options_(options),
        so_far_(store.read()),
        ledger_(*so_far_),
        blocks_planned_(planned_blocks(experiment.measure)) {
    site_.values = options.site_values;
    const fs::path directory = fs::absolute(store.directory()).lexically_normal();
    site_.trials_dir = directory / "trials";
    site_.log_dir = directory / "logs";
    site_.environment = current_environment();
    make_directory(site_.log_dir);
  }

  RunOutcome run() {
    note_the_job();
    choose_tracers();
    run_warmup();
    RunOutcome outcome = run_blocks();
    refuse_unmeasured_baseline();
    run_profiles();
    compare_models();
    compare_left_files();
    remove_if_empty(site_.trials_dir);
    report_progress("", ledger_.last_block());
    return outcome;
  }

 private:
  /// What can be said before the first trial.
  void note_the_job() {
    if (const auto warning = warning_of_equal_contents(experiment_)) store_.add_warning(*warning);
    if (const auto unpinned = unpinned_python(experiment_)) {
      store_.add_limitation(
          {"python_not_pinned", *unpinned, "set them in env to make results repeatable"});
    }
  }

  /// Superblock by superblock; an odd number ends with a single block.
  RunOutcome run_blocks() {
    RunOutcome outcome;
    for (int number = 0; outcome.blocks < blocks_planned_; ++number) {
      const int first = 2 * number + 1;
      const int count = std::min(2, blocks_planned_ - outcome.blocks);
      if (first > ledger_.last_block() && out_of_time(count + profile_rounds())) {
        outcome.end = RunEnd::out_of_time;
        break;
      }
      outcome.blocks += count == 2
                            ? run_places(first, superblock_order(seed(), number, arm_count()))
                            : run_places(first, block_order(seed(), first, arm_count()));
      if (may_stop(first + count - 1) && options_.should_stop(so_far())) {
        outcome.end = outcome.blocks < blocks_planned_ ? RunEnd::settled : RunEnd::complete;
        break;
      }
    }
    return outcome;
  }

  /// The baseline first, and once more where it fails: without it nothing can be said, and a job
  /// that hangs takes its whole deadline each time.
  void run_warmup() {
    std::vector<std::size_t> order = block_order(seed(), 0, arm_count());
    std::stable_partition(order.begin(), order.end(), [&](std::size_t arm) {
      return experiment_.arms[arm].name == experiment_.baseline;
    });
    run_places(0, order);
  }

  [[nodiscard]] bool baseline_never_worked() const {
    const auto outcome = ledger_.outcome(experiment_.baseline);
    return outcome.ok + outcome.ok_warmups == 0 && outcome.failed > 0;
  }

  /// Runs the arms in this order, those that the store lacks; an arm's n-th place is of block
  /// first + n. Returns how many blocks came to their end, the others being dropped.
  int run_places(int first, const std::vector<std::size_t>& order) {
    std::map<std::size_t, int> times;
    for (std::size_t position = 0; position < order.size(); ++position) {
      const int block = first + times[order[position]]++;
      if (ledger_.is_dropped(block)) continue;
      if (ledger_.has(block, experiment_.arms[order[position]].name)) continue;
      throw_if_stopped();
      TrialSlot slot{ledger_.next_id(),
                     block,
                     static_cast<int>(position),
                     order[position],
                     block == 0 ? TrialKind::warmup : TrialKind::measure,
                     {},
                     false};
      report_progress(experiment_.arms[slot.arm].name, block);
      run_slot(slot);
      if (slot.kind == TrialKind::warmup && baseline_never_worked()) {
        slot.id = ledger_.next_id();
        run_slot(slot);
      }
      refuse_dead_baseline();
    }
    const int last = first + static_cast<int>(order.size() / arm_count()) - 1;
    int whole = 0;
    for (int block = first; block <= last; ++block) {
      if (ledger_.is_dropped(block))
        store_.drop_block(block);
      else
        ++whole;
    }
    so_far_.reset();
    if (ledger_.dropped() > kMostDroppedBlocks) {
      throw Error(ExitCode::cannot_measure,
                  fmt::format("{} blocks were lost to faults of memduel itself", ledger_.dropped()),
                  store_.directory().string(), "see the failures in memduel report");
    }
    return whole;
  }

  /// Those of the config that are here; a failed gate asks for the recorder in any case.
  void choose_tracers() {
    store_.forget_limitations("tracer_missing");
    if (experiment_.profile_trials == 0) return;
    for (const std::string& name : experiment_.tracers) {
      const TracerEntry& entry = tracer_named(name);
      const Availability here =
          options_.tracer_works ? options_.tracer_works(entry) : entry.works_here();
      if (here.works) {
        tracers_.push_back(name);
        continue;
      }
      store_.add_limitation(
          {"tracer_missing", fmt::format("there are no profiles by {}: {}", name, here.why),
           entry.package.empty() ? "" : fmt::format("apt-get install {}", entry.package)});
    }
  }

  /// How many times every arm runs once more after the last block.
  [[nodiscard]] int profile_rounds() const {
    if (experiment_.profile_trials > 0)
      return experiment_.profile_trials * static_cast<int>(tracers_.size());
    return options_.arms_to_profile ? 1 : 0;
  }

  /// What the store lacks of the trials with a tracer. They are of no block.
  void run_profiles() {
    std::vector<std::string> asked;
    // The last block was begun only where there was time for these, too.
    if (options_.arms_to_profile && !out_of_time(0)) asked = options_.arms_to_profile(so_far());
    const auto asks = [&](const Arm& arm) {
      return std::find(asked.begin(), asked.end(), arm.name) != asked.end() ? 1 : 0;
    };
    asked_profiles_ = static_cast<int>(asked.size());
    if (!asked.empty()) run_profiles_by(kRecorderTracer, asks);
    for (const std::string& tracer : tracers_)
      run_profiles_by(tracer, [&](const Arm&) { return experiment_.profile_trials; });
  }

  void run_profiles_by(const std::string& tracer, const std::function<int(const Arm&)>& wanted) {
    for (std::size_t arm = 0; arm < experiment_.arms.size(); ++arm) {
      const std::string& name = experiment_.arms[arm].name;
      while (ledger_.profiles(name, tracer) < wanted(experiment_.arms[arm])) {
        if (out_of_time(0)) return;
        throw_if_stopped();
        report_progress(name, kProfileBlock, tracer);
        run_slot({ledger_.next_id(), kProfileBlock, 0, arm, TrialKind::profile, tracer,
                  ledger_.allocations().value_or(kMostRecordedAllocations + 1) <=
                      kMostRecordedAllocations});
      }
    }
  }

  void run_slot(const TrialSlot& slot) {
    const std::size_t unrecordable = site_.unrecordable.size();
    PlannedTrial planned = plan_trial(experiment_, slot, site_);
    const auto begin = std::chrono::steady_clock::now();
    TrialRun run = run_whole_trial(planned, run_trial_, store_.directory());
    // Once more without what it died of: the others must run as this one does.
    for (auto& [role, why] : harmed_by_recorder(planned.plan, run))
      site_.unrecordable.emplace(role, why);
    if (unrecordable < site_.unrecordable.size()) return run_slot(slot);
    refuse_unreadable_input(run);
    ++trials_here_;
    const double seconds = seconds_since(begin);
    if (run.trial.status == TrialStatus::ok && planned.model_file) {
      take_model(*planned.model_file, run.trial);
    }
    if (slot.kind == TrialKind::profile) keep_profiles_of(planned.plan, run);
    if (slot.kind == TrialKind::warmup && run.trial.status != TrialStatus::ok)
      run.warnings.push_back(
          {"warmup_failed",
           fmt::format("the warm-up trial of arm {} failed: {}", run.trial.arm, run.trial.failure),
           "the first trials that count may be those that warm files and caches"});
    for (const Note& note : run.limitations) store_.add_limitation(note);
    for (const Note& note : run.warnings) store_.add_warning(note);
    for (const Note& note : take_memory_warnings(run.trial)) store_.add_warning(note);
    store_.add_trial(run.trial);
    so_far_.reset();
    ledger_.add(run.trial);
    if (!planned.prepare.empty() || !planned.cleanup.empty())
      ledger_.add_overhead(seconds - seconds_of(run.trial));
    if (!expected_disk_) expected_disk_ = expected_disk_bytes();
    if (run.trial.status == TrialStatus::ok) fs::remove_all(planned.plan.trial_dir);
  }

  /// What such a job prepares is the same for every arm and trial.
  void refuse_unreadable_input(const TrialRun& run) const {
    if (!experiment_.job.memduel_statuses || run.prepare_status != static_cast<int>(ExitCode::io))
      return;
    throw Error(ExitCode::io, run.trial.failure, store_.directory().string());
  }

  /// No profile is worth a run.
  void keep_profiles_of(const TrialPlan& plan, TrialRun& run) {
    const TracerEntry& entry = tracer_named(plan.tracer);
    try {
      for (const std::string& why : keep_profiles(plan, store_.directory() / kProfilesFolder))
        run.warnings.push_back(
            {"profile_incomplete", fmt::format("{} under {}: {}", plan.arm, plan.tracer, why), ""});
    } catch (const Error& error) {
      run.warnings.push_back({"profile_incomplete", error.message(), error.advice()});
    }
    if (!entry.allocator.empty())
      run.limitations.push_back(
          {"tracer_replaces_allocator",
           fmt::format("profiles by {} are of the programs on {}, not on their own allocator",
                       entry.name, entry.allocator),
           ""});
    if (run.trial.status != TrialStatus::ok)
      run.warnings.push_back({"profile_failed",
                              fmt::format("the profile trial of arm {} under {} failed: {}",
                                          plan.arm, plan.tracer, run.trial.failure),
                              ""});
  }

  void take_model(const fs::path& model, TrialData& trial) {
    if (!fs::exists(model)) {
      trial.status = TrialStatus::failed;
      trial.failure =
          fmt::format("every process ended well, but none wrote {}", model.filename().string());
      return;
    }
    trial.model_sha256 = keep_model(store_.directory(), trial.arm, model);
  }

  /// A baseline that never worked will not start to; nothing can be said without it.
  void refuse_dead_baseline() const {
    const auto outcome = ledger_.outcome(experiment_.baseline);
    if (baseline_never_worked() && outcome.failed >= kBaselineChances) refuse_baseline(outcome);
  }

  void refuse_unmeasured_baseline() const {
    const auto outcome = ledger_.outcome(experiment_.baseline);
    if (outcome.ok == 0 && outcome.failed > 0) refuse_baseline(outcome);
  }

  [[noreturn]] void refuse_baseline(const Ledger::Outcome& outcome) const {
    const bool io = experiment_.job.memduel_statuses && outcome.file_failed;
    throw Error(io ? ExitCode::io : ExitCode::cannot_measure,
                fmt::format("the baseline {} failed in all of its {} trials, the last time: {}",
                            experiment_.baseline, outcome.failed, outcome.failure),
                store_.directory().string(), advice_on_dead_baseline(experiment_, outcome.failure));
  }

  void compare_models() {
    if (!experiment_.job.final_model) return;
    std::vector<std::string> candidates;
    for (const Arm& arm : experiment_.arms) {
      if (arm.name != experiment_.baseline) candidates.push_back(arm.name);
    }
    const auto compare = [&](const fs::path& a, const fs::path& b) {
      if (options_.compare_models) return options_.compare_models(a, b);
      return difference_of_models(*experiment_.job.final_model, a, b);
    };
    const auto comparison = compare_final_models(store_.directory(), so_far(), experiment_.baseline,
                                                 candidates, compare);
    store_.set_model_differences(comparison.differences);
    for (const Note& warning : comparison.warnings) store_.add_warning(warning);
  }

  void compare_left_files() {
    const auto comparison =
        compare_files(experiment_, so_far(), fs::absolute(store_.directory()).lexically_normal(),
                      site_.log_dir, run_trial_);
    store_.set_file_differences(comparison.differences);
    for (const Note& warning : comparison.warnings) store_.add_warning(warning);
  }

  /// What the store holds, read once for all who ask before it holds more.
  const RunData& so_far() {
    if (!so_far_) so_far_ = store_.read();
    return *so_far_;
  }

  [[nodiscard]] bool may_stop(int block) const {
    return !experiment_.measure.repeats && options_.should_stop && block >= ledger_.last_block();
  }

  /// Whether so many more blocks would end too late.
  [[nodiscard]] bool out_of_time(int blocks) const {
    if (!options_.max_minutes) return false;
    constexpr double kSecondsPerMinute = 60;
    const double elapsed = seconds_since(start_);
    // With what passes between trials.
    const double each = trials_here_ == 0 ? 0 : elapsed / trials_here_;
    const double needed = std::max(ledger_.trial_seconds().value_or(0), each) * arms() * blocks;
    return elapsed + needed > *options_.max_minutes * kSecondsPerMinute;
  }

  void throw_if_stopped() const {
    if (options_.stop == nullptr || !options_.stop->asked()) return;
    throw options_.stop->error("stopped by a signal", store_.directory().string(),
                               "continue with the same command and --resume");
  }

  [[nodiscard]] std::uint64_t seed() const { return experiment_.measure.seed; }
  [[nodiscard]] std::size_t arm_count() const { return experiment_.arms.size(); }
  [[nodiscard]] double arms() const { return static_cast<double>(experiment_.arms.size()); }

  [[nodiscard]] int total_trials() const {
    const int blocks = blocks_planned_ + 1 + static_cast<int>(ledger_.dropped());
    const int profiles = experiment_.profile_trials * static_cast<int>(tracers_.size());
    return (blocks + profiles) * static_cast<int>(experiment_.arms.size()) + asked_profiles_;
  }

  [[nodiscard]] std::optional<double> expected_disk_bytes() const {
    const auto bytes = directory_bytes(store_.directory());
    if (!bytes || ledger_.trials() == 0) return {};
    return *bytes / ledger_.trials() * total_trials();
  }

  void report_progress(const std::string& arm, int block, const std::string& tracer = {}) const {
    if (!options_.progress) return;
    Progress progress;
    progress.done = ledger_.trials();
    progress.total = total_trials();
    progress.elapsed_seconds = seconds_since(start_);
    const auto each = ledger_.trial_seconds();
    if (each) progress.remaining_seconds = *each * (progress.total - progress.done);
    progress.disk_bytes = expected_disk_;
    progress.arm = arm;
    progress.block = block;
    progress.tracer = tracer;
    options_.progress(progress);
  }

  static void make_directory(const fs::path& directory) {
    std::error_code error;
    fs::create_directories(directory, error);
    if (error) {
      throw Error(ExitCode::io, fmt::format("cannot make a directory: {}", error.message()),
                  directory.string());
    }
  }

  static void remove_if_empty(const fs::path& directory) {
    std::error_code not_empty;
    fs::remove(directory, not_empty);
  }

  const Experiment& experiment_;
  Store& store_;
  const RunTrial& run_trial_;
  const DriverOptions& options_;
  std::optional<RunData> so_far_;  ///< absent where the store has more
  Ledger ledger_;
  PlanSite site_;
  int asked_profiles_ = 0;            ///< of arms whose gates failed
  std::vector<std::string> tracers_;  ///< of the config, that work here
  int blocks_planned_;
  std::optional<double> expected_disk_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int trials_here_ = 0;  ///< since start_
};

}  // namespace

int planned_blocks(const Measure& measure) {
  return measure.repeats.value_or(kAdaptiveBlocks);
}

RunOutcome run_experiment(const Experiment& experiment, Store& store, const RunTrial& run_trial,
                          const DriverOptions& options) {
  return Driver(experiment, store, run_trial, options).run();
}

}  // namespace memduel
