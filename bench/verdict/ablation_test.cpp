#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis_steps.h"
#include "support/synthetic_run.h"
#include "support/test_data.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kMetric = "peak_rss_bytes";
constexpr int kBlocks = 6;

/// Arm to the server's peak above idle in MiB. Every block adds some pages, the same to all arms.
using Peaks = std::map<std::string, double>;

json switch_entry(const std::string& name, const json& added, const json& left_out) {
  return {{"name", name}, {"added_alone", added}, {"removed_alone", left_out}};
}

RunData ablation_run(const Peaks& peaks, const json& switches, int blocks = kBlocks) {
  RunData run;
  run.config = document_of_run({{"name", "x"},
                                {"baseline", "old"},
                                {"variants", json::array()},
                                {"measure", {{"repeats", blocks}}},
                                {"ablation", {{"candidate", "new"}, {"switches", switches}}}});
  run.environment = {{"fingerprint", "here"}};
  run.job = server_and_clients(2);
  for (const auto& [arm, peak] : peaks) {
    run.config.variants.emplace_back().name = arm;
    for (int block = 1; block <= blocks; ++block)
      run.trials.push_back(
          make_trial(arm, block, "server", {{kMetric, peak * kMiB + block * 4096.0}}));
  }
  return run;
}

json three_switches() {
  json switches = json::array();
  for (const char* name : {"x", "y", "z"})
    switches.push_back(switch_entry(name, {{"variant", std::string("old+") + name}},
                                    {{"variant", std::string("new-") + name}}));
  return switches;
}

/// x saves 30 MiB, y 20, z nothing, and none of them knows of the others.
Peaks independent() {
  return {{"old", 100}, {"old+x", 70}, {"old+y", 80}, {"old+z", 100},
          {"new", 50},  {"new-x", 80}, {"new-y", 70}, {"new-z", 50}};
}

/// Together x and y save 10 MiB more than one by one.
Peaks interacting() {
  return {{"old", 100}, {"old+x", 70}, {"old+y", 80}, {"old+z", 100},
          {"new", 40},  {"new-x", 80}, {"new-y", 70}, {"new-z", 40}};
}

Ablation ablation_of(const RunData& run) {
  const AnalysisSettings settings = settings_from_config(run.config);
  return ablate(ask(run, settings), {{"server", kMetric}});
}

const AblationRow& row_of(const Ablation& ablation, const std::string& name) {
  return *std::ranges::find(ablation.rows, name, &AblationRow::optimization);
}

TEST(Ablation, ComparesEachCellWithItsOwnReference) {
  const Ablation ablation = ablation_of(ablation_run(independent(), three_switches()));
  ASSERT_EQ(ablation.rows.size(), 3U);
  const AblationRow& x = row_of(ablation, "x");
  EXPECT_EQ(x.added_alone.arm, "old+x");
  EXPECT_EQ(x.added_alone.reference, "old");
  EXPECT_EQ(x.added_alone.n, kBlocks);
  EXPECT_NEAR(*x.added_alone.ratio, 0.7, 1e-4);
  EXPECT_EQ(x.added_alone.difference, -30 * kMiB);
  EXPECT_EQ(x.added_alone.verdict, Verdict::improved);
  EXPECT_LT(*x.added_alone.ci_low, 0.7);
  EXPECT_GT(*x.added_alone.ci_high, 0.7);
  EXPECT_EQ(x.left_out.reference, "new");
  EXPECT_NEAR(*x.left_out.ratio, 1.6, 1e-3);
  EXPECT_EQ(x.left_out.difference, 30 * kMiB);
  EXPECT_EQ(x.left_out.verdict, Verdict::regressed);
  EXPECT_EQ(row_of(ablation, "z").added_alone.verdict, Verdict::unchanged);
  EXPECT_EQ(row_of(ablation, "z").left_out.verdict, Verdict::unchanged);
  EXPECT_EQ(x.effect, SwitchEffect::saves);
  EXPECT_EQ(row_of(ablation, "z").effect, SwitchEffect::nothing);
}

TEST(Ablation, SaysWhereASwitchSavesOnOneSideAndCostsOnTheOther) {
  Peaks peaks = independent();
  peaks["new-y"] = 45;  // the others are better off without it
  const Ablation ablation = ablation_of(ablation_run(peaks, three_switches()));
  EXPECT_EQ(row_of(ablation, "y").effect, SwitchEffect::mixed);
  peaks["old+y"] = 100;
  EXPECT_EQ(row_of(ablation_of(ablation_run(peaks, three_switches())), "y").effect,
            SwitchEffect::costs);
}

TEST(Ablation, PutsTheLargestSavingFirst) {
  const Ablation ablation = ablation_of(
      ablation_run({{"old", 100}, {"new", 50}, {"old+x", 130}, {"old+y", 80}, {"old+z", 70}},
                   {switch_entry("x", {{"variant", "old+x"}}, {{"idle", "needs y"}}),
                    switch_entry("y", {{"variant", "old+y"}}, {{"idle", "needs y"}}),
                    switch_entry("z", {{"variant", "old+z"}}, {{"idle", "needs y"}})}));
  EXPECT_THAT(ablation.rows, ElementsAre(testing::Field(&AblationRow::optimization, "z"),
                                         testing::Field(&AblationRow::optimization, "y"),
                                         testing::Field(&AblationRow::optimization, "x")));
}

TEST(Interaction, IsNoneWhereEffectsAddUp) {
  const Ablation ablation = ablation_of(ablation_run(independent(), three_switches()));
  ASSERT_EQ(ablation.totals.size(), 1U);
  const AblationTotal& total = ablation.totals[0];
  EXPECT_EQ(total.whole.difference, -50 * kMiB);
  for (const AblationSum& sum : {total.added_alone, total.left_out}) {
    EXPECT_EQ(sum.sum, -50 * kMiB);
    EXPECT_EQ(sum.remainder, 0);
    EXPECT_EQ(sum.n, kBlocks);
    EXPECT_LE(*sum.ci_low, 0);
    EXPECT_GE(*sum.ci_high, 0);
    EXPECT_THAT(sum.missing, ElementsAre());
  }
}

// Added alone: -60 - (-30 - 20 - 0) = -10. Left out: -60 - (40 - 80 + 40 - 70 + 0) = +10.
TEST(Interaction, IsTheWholeLessTheSumOfTheParts) {
  const Ablation ablation = ablation_of(ablation_run(interacting(), three_switches()));
  const AblationTotal& total = ablation.totals.at(0);
  EXPECT_EQ(total.whole.difference, -60 * kMiB);
  EXPECT_EQ(total.added_alone.sum, -50 * kMiB);
  EXPECT_EQ(total.added_alone.remainder, -10 * kMiB);
  EXPECT_EQ(total.left_out.sum, -70 * kMiB);
  EXPECT_EQ(total.left_out.remainder, 10 * kMiB);
  EXPECT_LT(*total.added_alone.ci_high, -9 * kMiB);
  EXPECT_GT(*total.added_alone.ci_low, -11 * kMiB);
}

TEST(Interaction, OfASingleSwitchIsExactlyNone) {
  const json switches =
      json::array({switch_entry("x", {{"variant", "new"}}, {{"variant", "old"}})});
  const Ablation ablation = ablation_of(ablation_run({{"old", 100}, {"new", 50}}, switches));
  const AblationTotal& total = ablation.totals.at(0);
  EXPECT_EQ(total.added_alone.remainder, 0);
  EXPECT_EQ(total.added_alone.ci_low, 0);
  EXPECT_EQ(total.left_out.remainder, 0);
}

TEST(Ablation, SaysWhyACellHasNoArmAndCountsItAsNoEffect) {
  json switches = three_switches();
  switches[2]["added_alone"] = {{"idle", "needs fold=on"}};
  const Ablation ablation = ablation_of(ablation_run(independent(), switches));
  const AblationCell& cell = row_of(ablation, "z").added_alone;
  EXPECT_FALSE(cell.arm);
  EXPECT_FALSE(cell.ratio);
  EXPECT_EQ(cell.reason, "has no effect: needs fold=on");
  EXPECT_EQ(ablation.totals.at(0).added_alone.sum, -50 * kMiB);
  ASSERT_EQ(ablation.limitations.size(), 1U);
  EXPECT_EQ(ablation.limitations[0].message,
            "not measured: z added to old (has no effect: needs fold=on)");
}

TEST(Ablation, DoesNotTakeARefusedSwitchForOneWithoutEffect) {
  json switches = three_switches();
  switches[2]["added_alone"] = {{"refused", "z=on needs x=off"}};
  switches[2]["removed_alone"] = {{"refused", "z=on needs x=off"}};
  const Ablation ablation = ablation_of(ablation_run(independent(), switches));
  EXPECT_EQ(row_of(ablation, "z").added_alone.reason, "not possible: z=on needs x=off");
  EXPECT_EQ(row_of(ablation, "z").effect, SwitchEffect::inconclusive);
  EXPECT_THAT(ablation.totals.at(0).added_alone.missing, ElementsAre("z"));
}

TEST(Ablation, NamesASwitchWhoseArmGaveNoNumberAsMissing) {
  Peaks peaks = independent();
  RunData run = ablation_run(peaks, three_switches());
  for (TrialData& trial : run.trials) {
    if (trial.arm != "old+x") continue;
    trial.status = TrialStatus::failed;
    trial.failure = "server exited with status 3";
    trial.roles.clear();
  }
  const Ablation ablation = ablation_of(run);
  const AblationCell& cell = row_of(ablation, "x").added_alone;
  EXPECT_EQ(cell.verdict, Verdict::regressed);
  EXPECT_THAT(cell.reason, HasSubstr("failed in 6 of 6 trials"));
  EXPECT_FALSE(cell.difference);
  EXPECT_THAT(ablation.totals.at(0).added_alone.missing, ElementsAre("x"));
  EXPECT_EQ(ablation.totals.at(0).added_alone.sum, -20 * kMiB);
}

TEST(Ablation, CannotTellFromFewBlocks) {
  const Ablation ablation = ablation_of(ablation_run(independent(), three_switches(), 3));
  const AblationCell& cell = row_of(ablation, "x").added_alone;
  EXPECT_EQ(cell.verdict, Verdict::inconclusive);
  EXPECT_EQ(cell.reason, "too few trials: 3 of at least 5");
  EXPECT_NEAR(*cell.ratio, 0.7, 1e-4);
  EXPECT_EQ(row_of(ablation, "x").effect, SwitchEffect::inconclusive);
  EXPECT_FALSE(ablation.totals.at(0).added_alone.ci_low);
}

TEST(Ablation, OfARunWithoutTheSectionIsEmpty) {
  const RunData run = make_duel(kMetric, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5});
  EXPECT_TRUE(ablation_of(run).rows.empty());
}

/// Two rounds; the phase's peak of the second is the larger one.
void add_phase(RoleData& role, const std::string& name, double peak) {
  for (const int round : {1, 2}) {
    if (role.rounds.size() < static_cast<size_t>(round))
      role.rounds.push_back({round, 0, 0, {}, {}});
    PhaseData phase{name, 0, 0, {{"peak_rss_bytes", peak - (2 - round) * kMiB}}};
    role.rounds.edit()[static_cast<size_t>(round) - 1].phases.push_back(std::move(phase));
  }
}

TEST(PhasePeaks, AreTheLargestOfTheRoundsAboveIdle) {
  RunData run;
  run.trials.push_back(make_trial("a", 1, "server", {{"idle_rss_bytes", 100 * kMiB}}));
  run.trials.push_back(make_trial("a", 2, "server", {}));
  for (TrialData& trial : run.trials) add_phase(trial.roles[0], "upload", 150 * kMiB);
  const RunData peaks = phase_peaks(run);
  EXPECT_EQ(peaks.trials[0].roles[0].metrics,
            (Metrics{{"upload.peak_rss_above_idle_bytes", 50 * kMiB}}));
  EXPECT_EQ(peaks.trials[1].roles[0].metrics, (Metrics{{"upload.peak_rss_bytes", 150 * kMiB}}));
}

TEST(Ablation, ReportsThePeakOfEveryPhase) {
  RunData run = ablation_run(independent(), three_switches());
  for (TrialData& trial : run.trials) {
    RoleData& role = trial.roles[0];
    role.metrics["idle_rss_bytes"] = 10 * kMiB;
    add_phase(role, "upload", 10 * kMiB + role.metrics[kMetric]);
    if (trial.arm.starts_with("new")) add_phase(role, "cleanup", 20 * kMiB);
  }
  const Ablation ablation = ablation_of(run);
  ASSERT_EQ(ablation.totals.size(), 3U);
  EXPECT_FALSE(ablation.totals[0].phase);
  EXPECT_EQ(ablation.totals[1].phase, "upload");
  EXPECT_EQ(ablation.totals[1].metric, kPeakRssAboveIdle);
  EXPECT_EQ(ablation.totals[1].added_alone.sum, -50 * kMiB);
  EXPECT_EQ(ablation.totals[2].phase, "cleanup");
  const AblationRow& cleanup = ablation.rows.back();
  EXPECT_EQ(cleanup.phase, "cleanup");
  EXPECT_THAT(cleanup.added_alone.reason,
              HasSubstr("no pair of trials has phase cleanup in both old+"));
  EXPECT_EQ(cleanup.left_out.verdict, Verdict::unchanged);
}

TEST(AblationMetrics, AreTheGatesThePeaksAndTheTimes) {
  const std::vector<std::string> roles = {"server", "client_max", "client_median", "all"};
  const JobFacts job = server_and_clients(2);
  EXPECT_THAT(
      ablation_metrics(default_gates(job), roles, job),
      ElementsAre(RoleMetric{"server", kMetric}, RoleMetric{"client_max", kMetric},
                  RoleMetric{"server", "rss_growth_bytes_per_round"},
                  RoleMetric{"server", "round_seconds"}, RoleMetric{"server", "transfer_seconds"}));
  EXPECT_THAT(ablation_metrics({parse_gate("*.peak_pss_bytes<=+1%")}, {"all"}, job),
              ElementsAre(RoleMetric{"all", "peak_pss_bytes"}));
}

TEST(AblatedRun, JudgesOnlyTheCandidateByItsGates) {
  const RunData run = ablation_run(independent(), three_switches());
  const Results results = analyse(run, settings_from_config(run.config));
  ASSERT_EQ(results.comparisons.size(), 1U);
  EXPECT_EQ(results.comparisons[0].candidate, "new");
  // Six values all beyond six others: p = 2 / C(12, 6), alone in its family.
  EXPECT_NEAR(*results.comparisons[0].p_adjusted, 2.0 / 924, 1e-9);
  ASSERT_EQ(results.gates.size(), 1U);
  EXPECT_EQ(results.gates[0].candidate, "new");
  EXPECT_EQ(results.gates[0].outcome, GateOutcome::passed);
  EXPECT_EQ(results.equivalence.size(), 7U) << "every arm's model is compared";
  EXPECT_EQ(results.ablation.size(), 3U);
  int apart = 0;
  for (const ArmSummary& arm : results.arms) apart += static_cast<int>(arm.ablation);
  EXPECT_EQ(apart, 6);
}

}  // namespace
}  // namespace memduel
