// The order of a run: a warm-up of every arm, then every arm once in random order, superblock by
// superblock; after the last block every arm once more under each tracer.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "artifacts.h"
#include "config/experiment.h"
#include "external/python_programs.h"
#include "floor.h"
#include "run/plan.h"
#include "run/run.h"
#include "run_in_progress.h"
#include "stats/sample_size.h"
#include "stats/trial_order.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {

/// `failure`: of its last trial. Says where the logs are, that other statuses than 0 can be allowed
/// where one ended the trial, and that nothing went through a shell where words look so.
std::string advice_on_dead_baseline(const Experiment& experiment, const std::string& failure);

class BlockTrials {
 public:
  /// Both must outlive this.
  BlockTrials(RunInProgress& run, TrialRunner& runner) : run_(run), runner_(runner) {}

  /// The baseline first, and once more where it fails: without it nothing can be said, and a job
  /// that hangs takes its whole deadline each time.
  void run_warmup();
  /// Until the design ends, time does, or nothing is undecided any more. @param profile_rounds how
  /// many times every arm is to run afterwards. Throws Error(cannot_measure) where the baseline
  /// fails in every trial, or the harness keeps failing, Error(usage) where there is too little
  /// time for any decision.
  RunOutcome run_blocks(int profile_rounds);

 private:
  [[nodiscard]] SuperblockRange own_superblocks() const;
  [[nodiscard]] TrialOrder order_of(int superblock, int missing) const;
  int run_places(int first, const std::vector<std::size_t>& order);
  void run_place(int block, std::size_t position, std::size_t arm);
  int count_whole(int first, int count);
  [[nodiscard]] bool may_stop(int block) const;
  [[nodiscard]] bool baseline_never_worked() const;
  [[noreturn]] void refuse_baseline() const;

  RunInProgress& run_;
  TrialRunner& runner_;
};

class ProfileTrials {
 public:
  /// Chooses the tracers of the config that are here, and notes those that are missing. Both must
  /// outlive this. Throws Error if one cannot record the job.
  ProfileTrials(RunInProgress& run, TrialRunner& runner);

  /// How many times every arm runs once more.
  [[nodiscard]] int rounds() const;
  /// What the store lacks of them; a failed gate asks for the recorder in any case. They are of no
  /// block. The blocks leave time for them.
  void run();

 private:
  /// Of each variant and profiler, as the config asks.
  [[nodiscard]] int trials_of_each() const;
  [[nodiscard]] int trials_of_config() const;
  void run_by(const std::string& tracer, const std::function<int(const Variant&)>& wanted);
  /// Of every process of every variant, before there is a trial.
  void require_python(const TracerEntry& entry) const;

  RunInProgress& run_;
  TrialRunner& runner_;
  std::vector<std::string> tracers_;
};

namespace {

/// Of a program's arguments those that a shell would have taken for itself.
bool is_of_a_shell(const std::string& word) {
  constexpr std::array kOperators = {"<", ">", ">>", "|", "||", "&", "&&", ";", "2>", "2>&1"};
  return std::ranges::find(kOperators, word) != kOperators.end();
}

bool wants_a_shell(const Experiment& experiment) {
  for (const Variant& arm : experiment.variants)
    for (const JobProcess& process : arm.processes)
      for (const std::string& word : process.argv)
        if (is_of_a_shell(word)) return true;
  return false;
}

}  // namespace

std::string advice_on_dead_baseline(const Experiment& experiment, const std::string& failure) {
  std::string advice =
      "see its logs in logs/ and its files in trials/; memduel report shows the completed rounds";
  const bool foreign = !experiment.expansion;
  const bool is_of_step = failure.starts_with("prepare.");
  if (foreign && !is_of_step && failure.find("exited with status") != std::string::npos)
    advice +=
        "; if that status is not a failure, use --ignore-failure, or add it to "
        "\"exit_statuses\" of the process in a config";
  if (foreign && wants_a_shell(experiment)) advice += "; to run commands in a shell, use -S";
  return advice;
}

namespace {

constexpr int kMostDroppedBlocks = 3;  ///< a harness that fails more often is not believed
constexpr int kBaselineChances = 2;

OrderPlan order_plan_of(const Experiment& experiment, const std::optional<Share>& share) {
  OrderPlan plan;
  plan.seed = *experiment.config.measure.seed;
  plan.arms = experiment.variants.size();
  plan.baseline = static_cast<std::size_t>(
      std::ranges::find(experiment.variants, experiment.config.baseline, &Variant::name) -
      experiment.variants.begin());
  plan.segments =
      planned_segments(experiment.config.measure.repeats, plan.arms - 1, share ? share->of : 1);
  return plan;
}

}  // namespace

void BlockTrials::run_warmup() {
  const Experiment& experiment = run_.experiment();
  std::vector<std::size_t> order =
      block_order(*experiment.config.measure.seed, 0, run_.arm_count());
  std::ranges::stable_partition(order, [&](std::size_t arm) {
    return experiment.variants[arm].name == experiment.config.baseline;
  });
  for (int warmup = 0; warmup < experiment.config.measure.warmups; ++warmup)
    for (std::size_t position = 0; position < order.size(); ++position)
      if (run_.ledger().warmups(experiment.variants[order[position]].name) <= warmup &&
          !run_.ledger().is_dropped(0))
        run_place(0, position, order[position]);
  count_whole(0, 1);
}

/// An odd number of blocks ends with a single one.
RunOutcome BlockTrials::run_blocks(int profile_rounds) {
  const int planned = own_blocks(run_.experiment().config.measure, run_.options());
  const SuperblockRange own = own_superblocks();
  RunOutcome outcome;
  run_.expect_time(profile_rounds);
  run_.expect_worthwhile_blocks();
  bool has_begun = false;
  for (int number = own.first; number < own.end && outcome.blocks < planned; ++number) {
    const int first = 2 * number + 1;
    const TrialOrder order = order_of(number, planned - outcome.blocks);
    const int count = static_cast<int>(order.size() / run_.arm_count());
    const bool is_new = first > run_.ledger().last_block();
    if (is_new && has_begun && run_.is_out_of_time(profile_rounds)) {
      outcome.end = RunEnd::out_of_time;
      break;
    }
    has_begun = has_begun || is_new;
    outcome.blocks += run_places(first, order);
    if (may_stop(first + count - 1) && run_.options().should_stop(run_.so_far())) {
      outcome.end = outcome.blocks < planned ? RunEnd::settled : RunEnd::complete;
      break;
    }
  }
  const auto baseline = run_.ledger().outcome(run_.experiment().config.baseline);
  if (baseline.ok == 0 && baseline.failed > 0) refuse_baseline();
  return outcome;
}

/// @param missing blocks up to the design's end.
TrialOrder BlockTrials::order_of(int superblock, int missing) const {
  const Experiment& experiment = run_.experiment();
  if (experiment.config.measure.order == BlockOrder::restricted) {
    const Segment segment = segment_at(order_plan_of(experiment, run_.options().share), superblock,
                                       std::min(2, missing));
    return segment.superblocks[static_cast<std::size_t>(superblock - segment.first)];
  }
  const std::uint64_t seed = *experiment.config.measure.seed;
  return missing > 1 ? superblock_order(seed, superblock, run_.arm_count())
                     : block_order(seed, 2 * superblock + 1, run_.arm_count());
}

/// A run goes on past its plan where blocks were dropped; a share would run into the next one's.
SuperblockRange BlockTrials::own_superblocks() const {
  const auto& share = run_.options().share;
  if (!share) return {0, std::numeric_limits<int>::max()};
  return superblocks_of(*share, planned_blocks(run_.experiment().config.measure));
}

/// Runs the arms in this order, those that the store lacks; an arm's n-th place is of block
/// first + n. Returns how many blocks came to their end, the others being dropped.
int BlockTrials::run_places(int first, const std::vector<std::size_t>& order) {
  std::map<std::size_t, int> times;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const std::size_t arm = order[position];
    const int block = first + times[arm]++;
    const bool is_done = run_.ledger().has(block, run_.experiment().variants[arm].name);
    if (!is_done && !run_.ledger().is_dropped(block)) run_place(block, position, arm);
  }
  return count_whole(first, static_cast<int>(order.size() / run_.arm_count()));
}

void BlockTrials::run_place(int block, std::size_t position, std::size_t arm) {
  run_.expect_another_trial();
  const TrialSlot slot{0,
                       block,
                       static_cast<int>(position),
                       arm,
                       block == 0 ? TrialKind::warmup : TrialKind::measure,
                       {},
                       false};
  run_.tell(run_.experiment().variants[arm].name, block);
  runner_.run(slot);
  if (slot.kind == TrialKind::warmup && baseline_never_worked()) runner_.run(slot);
  const bool is_first_block = block == (run_.experiment().config.measure.warmups > 0 ? 0 : 1);
  if (is_first_block && run_.options().check_first_trials)
    run_.options().check_first_trials(run_.so_far());
  // One that never worked will not start to.
  const auto baseline = run_.ledger().outcome(run_.experiment().config.baseline);
  if (baseline_never_worked() && baseline.failed >= kBaselineChances) refuse_baseline();
}

int BlockTrials::count_whole(int first, int count) {
  int whole = 0;
  for (int block = first; block < first + count; ++block) {
    if (run_.ledger().is_dropped(block))
      run_.drop_block(block);
    else
      ++whole;
  }
  if (run_.ledger().dropped() > kMostDroppedBlocks)
    throw Error(ExitCode::cannot_measure,
                fmt::format("{} lost to internal errors of memduel",
                            format_count(run_.ledger().dropped(), "block was", "blocks were")),
                run_.store().directory().string(), "see the failures in memduel report");
  return whole;
}

bool BlockTrials::may_stop(int block) const {
  return !run_.experiment().config.measure.repeats && run_.options().should_stop &&
         block >= run_.ledger().last_block();
}

bool BlockTrials::baseline_never_worked() const {
  const auto outcome = run_.ledger().outcome(run_.experiment().config.baseline);
  return outcome.ok + outcome.ok_warmups == 0 && outcome.failed > 0;
}

void BlockTrials::refuse_baseline() const {
  const Experiment& experiment = run_.experiment();
  const auto outcome = run_.ledger().outcome(experiment.config.baseline);
  const bool io = experiment.config.workload.job.memduel_statuses && outcome.file_failed;
  throw Error(
      io ? ExitCode::io : ExitCode::cannot_measure,
      fmt::format("{}{} failed in {}: {}", experiment.variants.size() == 1 ? "" : "the baseline ",
                  experiment.config.baseline,
                  outcome.failed == 1
                      ? "its only trial"
                      : fmt::format("all of its {} trials, the last time", outcome.failed),
                  outcome.failure),
      run_.store().directory().string(), advice_on_dead_baseline(experiment, outcome.failure));
}

namespace {

/// Of all shares one does.
bool takes_profiles(const DriverOptions& options) {
  return !options.share || options.share->number == 1;
}

}  // namespace

ProfileTrials::ProfileTrials(RunInProgress& run, TrialRunner& runner) : run_(run), runner_(runner) {
  const Experiment& experiment = run.experiment();
  run.store().forget_notes("profiler_missing");
  if (trials_of_each() == 0) return;
  for (const std::string& name : experiment.config.profile->profilers) {
    const TracerEntry& entry = tracer_named(name);
    const Availability here =
        run.options().tracer_works ? run.options().tracer_works(entry) : entry.works_here();
    if (here.works) {
      if (entry.records_python && run.ledger().trials() == 0 && takes_profiles(run.options()))
        require_python(entry);
      tracers_.push_back(name);
      continue;
    }
    run.store().add_limitation({"profiler_missing",
                                fmt::format("{} is not available: {}", name, here.why),
                                command_to_install(entry)});
  }
  run.expect_profiles(trials_of_config());
}

void ProfileTrials::require_python(const TracerEntry& entry) const {
  std::vector<PlacedCommand> commands;
  for (std::size_t arm = 0; arm < run_.arm_count(); ++arm) {
    const TrialPlan plan =
        plan_trial(run_.experiment(), {.arm = arm, .kind = TrialKind::measure}, runner_.site())
            .plan;
    for (const ProcessSpec& process : plan.processes)
      if (process.node <= 1)
        commands.push_back({"role " + process.role, process.argv,
                            process.cwd.empty() ? plan.trial_dir : process.cwd, process.env});
  }
  require_python_package(entry, commands);
}

int ProfileTrials::trials_of_each() const {
  const auto& profile = run_.experiment().config.profile;
  return profile ? profile->trials : 0;
}

int ProfileTrials::trials_of_config() const {
  return trials_of_each() * static_cast<int>(tracers_.size() * run_.arm_count());
}

int ProfileTrials::rounds() const {
  if (trials_of_each() > 0) return trials_of_each() * static_cast<int>(tracers_.size());
  return run_.options().arms_to_profile ? 1 : 0;
}

void ProfileTrials::run() {
  std::vector<std::string> asked;
  if (run_.options().arms_to_profile) asked = run_.options().arms_to_profile(run_.so_far());
  run_.expect_profiles(trials_of_config() + static_cast<int>(asked.size()));
  if (!asked.empty())
    run_by(kRecorderTracer, [&](const Variant& arm) {
      return std::ranges::find(asked, arm.name) != asked.end() ? 1 : 0;
    });
  for (const std::string& tracer : tracers_)
    run_by(tracer, [&](const Variant&) { return trials_of_each(); });
}

void ProfileTrials::run_by(const std::string& tracer,
                           const std::function<int(const Variant&)>& wanted) {
  for (std::size_t arm = 0; arm < run_.arm_count(); ++arm) {
    const Variant& each = run_.experiment().variants[arm];
    while (run_.ledger().profiles(each.name, tracer) < wanted(each)) {
      run_.expect_another_trial();
      run_.tell(each.name, kProfileBlock, tracer);
      const bool records_all = run_.ledger().allocations().value_or(kMostRecordedAllocations + 1) <=
                               kMostRecordedAllocations;
      runner_.run({0, kProfileBlock, 0, arm, TrialKind::profile, tracer, records_all,
                   run_.ledger().peaks(each.name)});
    }
  }
}

namespace {

namespace fs = std::filesystem;

constexpr int kAdaptiveBlocks = 16;  ///< the last look of the adaptive design

/// What can be said before the first trial.
void note_the_job(const Experiment& experiment, Store& store) {
  if (const auto warning = warning_of_equal_contents(experiment)) store.add_warning(*warning);
  if (const auto warning = warning_of_programs_elsewhere(experiment)) store.add_warning(*warning);
  if (const auto unpinned = unpinned_python(experiment))
    store.add_limitation({"python_not_pinned", *unpinned,
                          "set them with --env, or in env of the config, for repeatable results"});
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
  const bool profiled = takes_profiles(options);
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
    store.forget_notes(kNearFloor);
    if (const auto near =
            near_floor(experiment, run.so_far(), runner.site(), run.ledger().next_id(), run_trial))
      store.add_limitation(*near);
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
