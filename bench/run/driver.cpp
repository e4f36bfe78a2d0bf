#include "experiment/run/block_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "analysis/statistics/looks.h"
#include "analysis/statistics/trial_order.h"
#include "base/error.h"
#include "base/text.h"
#include "experiment/run/dead_baseline.h"

namespace memduel {
namespace {

constexpr int kMostDroppedBlocks = 3;  ///< a harness that fails more often is not believed
constexpr int kBaselineChances = 2;

OrderPlan order_plan_of(const Experiment& experiment, const std::optional<Share>& share) {
  OrderPlan plan;
  plan.seed = experiment.measure.seed;
  plan.arms = experiment.arms.size();
  plan.baseline =
      static_cast<std::size_t>(std::ranges::find(experiment.arms, experiment.baseline, &Arm::name) -
                               experiment.arms.begin());
  plan.segments =
      planned_segments(experiment.measure.repeats, plan.arms - 1, share ? share->of : 1);
  return plan;
}

}  // namespace

void BlockTrials::run_warmup() {
  const Experiment& experiment = run_.experiment();
  std::vector<std::size_t> order = block_order(experiment.measure.seed, 0, run_.arm_count());
  std::ranges::stable_partition(
      order, [&](std::size_t arm) { return experiment.arms[arm].name == experiment.baseline; });
  for (int warmup = 0; warmup < experiment.measure.warmups; ++warmup)
    for (std::size_t position = 0; position < order.size(); ++position)
      if (run_.ledger().warmups(experiment.arms[order[position]].name) <= warmup &&
          !run_.ledger().is_dropped(0))
        run_place(0, position, order[position]);
  count_whole(0, 1);
}

/// An odd number of blocks ends with a single one.
RunOutcome BlockTrials::run_blocks(int profile_rounds) {
  const int planned = own_blocks(run_.experiment().measure, run_.options());
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
  const auto baseline = run_.ledger().outcome(run_.experiment().baseline);
  if (baseline.ok == 0 && baseline.failed > 0) refuse_baseline();
  return outcome;
}

/// @param missing blocks up to the design's end.
TrialOrder BlockTrials::order_of(int superblock, int missing) const {
  const Experiment& experiment = run_.experiment();
  if (experiment.measure.restricts_order) {
    const Segment segment = segment_at(order_plan_of(experiment, run_.options().share), superblock,
                                       std::min(2, missing));
    return segment.superblocks[static_cast<std::size_t>(superblock - segment.first)];
  }
  const std::uint64_t seed = experiment.measure.seed;
  return missing > 1 ? superblock_order(seed, superblock, run_.arm_count())
                     : block_order(seed, 2 * superblock + 1, run_.arm_count());
}

/// A run goes on past its plan where blocks were dropped; a share would run into the next one's.
SuperblockRange BlockTrials::own_superblocks() const {
  const auto& share = run_.options().share;
  if (!share) return {0, std::numeric_limits<int>::max()};
  return superblocks_of(*share, planned_blocks(run_.experiment().measure));
}

/// Runs the arms in this order, those that the store lacks; an arm's n-th place is of block
/// first + n. Returns how many blocks came to their end, the others being dropped.
int BlockTrials::run_places(int first, const std::vector<std::size_t>& order) {
  std::map<std::size_t, int> times;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const std::size_t arm = order[position];
    const int block = first + times[arm]++;
    const bool is_done = run_.ledger().has(block, run_.experiment().arms[arm].name);
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
  run_.tell(run_.experiment().arms[arm].name, block);
  runner_.run(slot);
  if (slot.kind == TrialKind::warmup && baseline_never_worked()) runner_.run(slot);
  // One that never worked will not start to.
  const auto baseline = run_.ledger().outcome(run_.experiment().baseline);
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
                fmt::format("{} lost to faults of memduel itself",
                            format_count(run_.ledger().dropped(), "block was", "blocks were")),
                run_.store().directory().string(), "see the failures in memduel report");
  return whole;
}

bool BlockTrials::may_stop(int block) const {
  return !run_.experiment().measure.repeats && run_.options().should_stop &&
         block >= run_.ledger().last_block();
}

bool BlockTrials::baseline_never_worked() const {
  const auto outcome = run_.ledger().outcome(run_.experiment().baseline);
  return outcome.ok + outcome.ok_warmups == 0 && outcome.failed > 0;
}

void BlockTrials::refuse_baseline() const {
  const Experiment& experiment = run_.experiment();
  const auto outcome = run_.ledger().outcome(experiment.baseline);
  const bool io = experiment.job.memduel_statuses && outcome.file_failed;
  throw Error(io ? ExitCode::io : ExitCode::cannot_measure,
              fmt::format("the baseline {} failed in {}: {}", experiment.baseline,
                          outcome.failed == 1
                              ? "its only trial"
                              : fmt::format("all of its {} trials, the last time", outcome.failed),
                          outcome.failure),
              run_.store().directory().string(),
              advice_on_dead_baseline(experiment, outcome.failure));
}

}  // namespace memduel
