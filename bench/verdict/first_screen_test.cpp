// Finished rows with known medians: which of them are shown, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/bytes.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FirstScreenRows : public testing::Test {
 protected:
  FirstScreenRows() {
    results_.baseline = "a";
    add_arm("a");
    add_arm("b");
  }

  void add_arm(const std::string& name) {
    ArmSummary arm;
    arm.name = name;
    results_.arms.push_back(arm);
  }

  /// Medians in MiB, or of what is no memory as they are.
  Comparison& add(const std::string& role, const std::string& metric, double baseline,
                  double candidate, Verdict verdict) {
    Comparison row;
    row.baseline = "a";
    row.candidate = "b";
    row.role = role;
    row.metric = metric;
    const double unit = metric.ends_with("_bytes") ? kMiB : 1;
    row.baseline_median = baseline * unit;
    row.candidate_median = candidate * unit;
    row.ratio = candidate / baseline;
    row.difference = (candidate - baseline) * unit;
    row.margin = 0.01;
    row.verdict = verdict;
    results_.comparisons.push_back(row);
    return results_.comparisons.back();
  }

  void add_gate(const std::string& role, const std::string& metric, double baseline,
                double candidate, Verdict verdict, GateOutcome outcome) {
    add(role, metric, baseline, candidate, verdict).gate = true;
    GateResult gate;
    gate.gate = role + "." + metric + "<=+1%";
    gate.role = role;
    gate.metric = metric;
    gate.candidate = "b";
    gate.outcome = outcome;
    results_.gates.push_back(gate);
  }

  /// Values in MiB of every trial of a variant.
  void add_trials(const std::string& arm, const std::string& role, const std::string& metric,
                  const std::vector<double>& values) {
    for (const double value : values) {
      TrialData trial;
      trial.arm = arm;
      RoleData data;
      data.role = role;
      data.metrics[metric] = value * kMiB;
      trial.roles.push_back(data);
      results_.trials.push_back(trial);
    }
  }

  /// "failed_gate all.peak_heap_bytes".
  [[nodiscard]] std::vector<std::string> shown() const {
    std::vector<std::string> rows;
    for (const ShownRow& row : rows_to_show(results_))
      rows.push_back(std::string(to_name(row.why)) + " " + row.role + "." + row.metric);
    return rows;
  }

  Results results_;
};

TEST_F(FirstScreenRows, AreNoneOfNothing) {
  EXPECT_THAT(rows_to_show({}), IsEmpty());
}

// A service that gives its free memory back after its work: both peaks stay, the end does not.
TEST_F(FirstScreenRows, HoldTheLargestChangeWhateverItsMetric) {
  add_gate("all", "peak_rss_bytes", 180, 180, Verdict::unchanged, GateOutcome::passed);
  add_gate("all", "peak_heap_bytes", 170, 170, Verdict::unchanged, GateOutcome::passed);
  add("worker", "end_rss_bytes", 130.8, 10.4, Verdict::improved);
  add("worker", "end_pss_bytes", 128, 8, Verdict::improved);
  add("worker", "peak_rss_anon_bytes", 124.2, 13.8, Verdict::improved);  // at marks
  add("all", "end_rss_bytes", 130.8, 10.4, Verdict::improved);
  add("worker", "round_seconds", 5.5, 8.6, Verdict::regressed);
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes", "gate all.peak_heap_bytes",
                                   "largest_change worker.end_rss_bytes"))
      << "PSS and the job say the same";
  EXPECT_NEAR(*rows_to_show(results_).back().change, -120.4 * kMiB, 1);
}

TEST_F(FirstScreenRows, HoldAChangeThatOnlyTheNumberOfRowsLeavesOpen) {
  add_gate("all", "peak_rss_bytes", 180, 180, Verdict::unchanged, GateOutcome::passed);
  add("worker", "end_rss_bytes", 130.8, 10.4, Verdict::inconclusive);
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes")) << "no trials tell it";
  add_trials("a", "worker", "end_rss_bytes", {130, 131, 130.5, 131, 130.8});
  add_trials("b", "worker", "end_rss_bytes", {10, 11, 10.4, 10.4, 12});
  EXPECT_THAT(shown(),
              ElementsAre("gate all.peak_rss_bytes", "largest_change worker.end_rss_bytes"));
  add_trials("b", "worker", "end_rss_bytes", {130});
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes"))
      << "one trial of b lies among those of a";
}

TEST_F(FirstScreenRows, HoldNoTrifleBesideALargeChange) {
  add_gate("all", "peak_rss_bytes", 104, 44, Verdict::improved, GateOutcome::passed);
  add("command", "live_at_end_bytes", 0.1, 0.39, Verdict::regressed);
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes"));
  add("command", "end_heap_bytes", 10, 20, Verdict::regressed);
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes", "change command.end_heap_bytes"))
      << "10 MiB more are no trifle beside 60 MiB less";
}

TEST_F(FirstScreenRows, HoldASmallChangeWhereNoneIsLarger) {
  add_gate("all", "peak_rss_bytes", 104, 104, Verdict::unchanged, GateOutcome::passed);
  add("command", "live_at_end_bytes", 0.1, 0.39, Verdict::regressed);
  EXPECT_THAT(shown(),
              ElementsAre("gate all.peak_rss_bytes", "largest_change command.live_at_end_bytes"));
}

TEST_F(FirstScreenRows, HoldNoRowThatAnotherTells) {
  add_gate("server", "peak_rss_bytes", 200, 140, Verdict::improved, GateOutcome::passed);
  add("server", "peak_rss_anon_bytes", 180, 120, Verdict::improved);
  add("all", "peak_rss_bytes", 300, 238, Verdict::improved);
  EXPECT_THAT(shown(), ElementsAre("gate server.peak_rss_bytes"));
  add("client", "peak_rss_bytes", 100, 50, Verdict::improved);
  EXPECT_THAT(shown(), ElementsAre("gate server.peak_rss_bytes", "change client.peak_rss_bytes"))
      << "another process";
  add("server", "idle_rss_bytes", 20, 60, Verdict::regressed);
  EXPECT_THAT(shown(), ElementsAre("gate server.peak_rss_bytes", "change client.peak_rss_bytes",
                                   "change server.idle_rss_bytes"))
      << "more where the other has less";
}

TEST_F(FirstScreenRows, HoldAPeakThoughTheEndChangedMore) {
  add_gate("all", "peak_shared_once_bytes", 20.7, 49.3, Verdict::inconclusive,
           GateOutcome::inconclusive);
  add("server", "peak_rss_bytes", 76, 161, Verdict::regressed);
  add("server", "peak_rss_above_idle_bytes", 16.3, 103.7, Verdict::regressed);
  add("server", "end_rss_bytes", 59.7, 160.6, Verdict::regressed);
  EXPECT_THAT(shown(),
              ElementsAre("gate all.peak_shared_once_bytes", "largest_change server.end_rss_bytes",
                          "change server.peak_rss_bytes"));
}

TEST_F(FirstScreenRows, TakeMemoryOfAGpuForOtherMemory) {
  add_gate("all", "peak_rss_bytes", 200, 140, Verdict::improved, GateOutcome::passed);
  add("all", "peak_gpu_used_bytes", 200, 150, Verdict::improved);
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes", "change all.peak_gpu_used_bytes"));
}

TEST_F(FirstScreenRows, BeginWithFailedGatesThenWithWhatBecameWorse) {
  add_gate("all", "peak_rss_bytes", 2, 2.1, Verdict::unchanged, GateOutcome::passed);
  add_gate("all", "idle_rss_bytes", 200, 100, Verdict::improved, GateOutcome::passed);
  add_gate("all", "round_seconds", 1, 2, Verdict::regressed, GateOutcome::passed);
  add_gate("all", "peak_heap_bytes", 0.4, 0.5, Verdict::regressed, GateOutcome::failed);
  EXPECT_THAT(shown(), ElementsAre("failed_gate all.peak_heap_bytes", "gate all.round_seconds",
                                   "gate all.idle_rss_bytes", "gate all.peak_rss_bytes"));
}

TEST_F(FirstScreenRows, HoldCountersOnlyWhereNoMemoryHeldAtOneTimeChanged) {
  add_gate("all", "peak_rss_bytes", 200, 200, Verdict::unchanged, GateOutcome::passed);
  add("command", "allocated_bytes", 8.7, 8.1, Verdict::improved).exact = true;
  add("all", "allocated_bytes", 8.7, 8.1, Verdict::improved).exact = true;
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes", "other command.allocated_bytes"));
  results_.comparisons.front().verdict = Verdict::improved;
  results_.comparisons.front().candidate_median = 150 * kMiB;
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes"));
}

TEST_F(FirstScreenRows, TakeNoPageCacheAndNoTrafficForMemory) {
  add_gate("all", "peak_rss_bytes", 200, 190, Verdict::improved, GateOutcome::passed);
  add("all", "peak_cgroup_file_bytes", 900, 100, Verdict::improved);
  add("all", "allocated_bytes", 90000, 100, Verdict::improved);
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes"));
}

TEST_F(FirstScreenRows, WithoutGatesAreWhatChangedMost) {
  add("all", "peak_rss_bytes", 200, 100, Verdict::improved);
  add("all", "end_rss_bytes", 20, 60, Verdict::regressed);
  add("all", "peak_heap_bytes", 50, 50, Verdict::unchanged);
  add("all", "round_seconds", 2, 1, Verdict::improved);
  EXPECT_THAT(shown(), ElementsAre("change all.end_rss_bytes", "largest_change all.peak_rss_bytes",
                                   "other all.round_seconds"));
}

TEST_F(FirstScreenRows, OfAnAblationAreItsGates) {
  add_gate("all", "peak_rss_bytes", 200, 190, Verdict::improved, GateOutcome::passed);
  add("all", "end_rss_bytes", 200, 50, Verdict::improved);
  results_.ablation.emplace_back();
  EXPECT_THAT(shown(), ElementsAre("gate all.peak_rss_bytes"));
}

Growth growing(const std::string& role, double bytes) {
  Growth growth;
  growth.arm = "b";
  growth.role = role;
  growth.metric = "rss_growth_bytes_per_round";
  growth.slope = bytes;
  growth.verdict = GrowthVerdict::growing;
  return growth;
}

// A server that leaks 898 KiB a round, and a client whose interpreter warms up.
TEST_F(FirstScreenRows, TellNoGrowthThatIsLittleAgainstTheLargest) {
  results_.growth = {growing("server", 897.9 * kKiB), growing("load", 30.4 * kKiB)};
  EXPECT_TRUE(is_notable_growth(results_, results_.growth[0]));
  EXPECT_FALSE(is_notable_growth(results_, results_.growth[1]));
  results_.growth = {growing("load", 30.4 * kKiB)};
  EXPECT_TRUE(is_notable_growth(results_, results_.growth[0]));
  results_.growth[0].verdict = GrowthVerdict::flat;
  EXPECT_FALSE(is_notable_growth(results_, results_.growth[0]));
}

TEST_F(FirstScreenRows, TellNoGrowthBelowTheMarginOfItsRow) {
  results_.growth = {growing("load", 30.4 * kKiB)};
  Comparison& row = add("load", "rss_growth_bytes_per_round", 1, 2, Verdict::inconclusive);
  row.margin = 64.0 * kKiB;
  EXPECT_FALSE(is_notable_growth(results_, results_.growth[0]));
  row.margin = 16.0 * kKiB;
  EXPECT_TRUE(is_notable_growth(results_, results_.growth[0]));
}

}  // namespace
}  // namespace memduel
