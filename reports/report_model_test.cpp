#include "reports/report_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "test_sample_run.h"

namespace memduel {
namespace {

TEST(ReportModel, HasOneHeadlinePerGateMetricWithTheGatesOutcome) {
  const ReportModel model = sample_model({});
  ASSERT_EQ(model.headlines.size(), 2u);
  EXPECT_EQ(model.headlines[0].role, "server");
  EXPECT_EQ(model.headlines[0].verdict, Verdict::improved);
  EXPECT_EQ(model.headlines[0].outcome, GateOutcome::passed);
  // 599 + 5 + 1 (median noise) - 150 idle against 0.6 * 600 + 5 - 150, see make_sample.
  EXPECT_THAT(model.headlines[0].sentence.text(),
              testing::StartsWith("optimized uses 53% LESS server memory above idle at its peak"));
}

TEST(ReportModel, AnswersWhatAdvisoryGatesAskBeforeAnythingElse) {
  Sample sample = make_sample();
  for (Comparison& row : sample.results.comparisons)
    row.advisory_gate = std::exchange(row.gate, false);
  for (GateResult& gate : sample.results.gates) gate.advisory = true;
  Comparison faults = sample.results.comparisons[0];
  faults.metric = "minor_faults_count";
  faults.advisory_gate = false;
  faults.verdict = Verdict::regressed;
  faults.ratio = 2.2;
  sample.results.comparisons.push_back(faults);
  const ReportModel model = build_report_model(sample.results, sample.run);
  const ReportModel deciding = sample_model({});
  ASSERT_EQ(model.headlines.size(), deciding.headlines.size());
  EXPECT_EQ(model.headlines[0].sentence.text(), deciding.headlines[0].sentence.text());
  EXPECT_THAT(model.headlines[0].gate, testing::StartsWith("advisory gate "));
  EXPECT_FALSE(model.headlines[0].fails);
  EXPECT_EQ(model.headlines[0].outcome, deciding.headlines[0].outcome);
  for (const SideEffect& effect : model.side_effects)
    EXPECT_NE(effect.topic, Topic::gate) << effect.sentence;
}

TEST(ReportModel, AnswersSameModelSameAccuracyCostInTime) {
  const ReportModel model = sample_model({});
  ASSERT_EQ(model.side_effects.size(), 3u);
  EXPECT_EQ(model.side_effects[0].topic, Topic::model);
  EXPECT_EQ(model.side_effects[1].sentence,
            "Validation accuracy: 91.25% with optimized, 91.25% with original.");
  EXPECT_EQ(model.side_effects[2].topic, Topic::time);
}

TEST(ReportModel, CountsOnlyBlocksThatHoldEveryArm) {
  Sample sample = make_sample({.blocks = 5});
  sample.run.trials.pop_back();
  const ReportModel model = build_report_model(sample.results, sample.run);
  EXPECT_EQ(model.blocks_done, 4);
  EXPECT_EQ(model.blocks_planned, 8);
}

TEST(ReportModel, PutsGrowthOfGatedRolesOnTheFirstScreen) {
  Sample sample = make_sample();
  for (const char* role : {"server", "client-1"}) {
    Growth growth;
    growth.arm = "original";
    growth.role = role;
    growth.metric = "rss_growth_bytes_per_round";
    growth.verdict = GrowthVerdict::flat;
    growth.reason = "stays near 200.0 MiB";
    sample.results.growth.push_back(growth);
  }
  sample.results.comparisons[0].metric = "rss_growth_bytes_per_round";
  sample.results.comparisons[0].role = "server";
  sample.results.comparisons[0].gate = true;
  const std::vector<Sentence> growth_told = build_report_model(sample.results, sample.run).growth;
  ASSERT_THAT(growth_told, testing::SizeIs(1));
  EXPECT_EQ(growth_told[0].text(),
            "server memory from round to round: original stays near 200.0 MiB");
  sample.results.ablation.emplace_back();
  EXPECT_THAT(build_report_model(sample.results, sample.run).growth, testing::IsEmpty())
      << "an ablation asks about switches";
}

Growth growth_of(const char* arm, const char* role, GrowthVerdict verdict) {
  Growth growth;
  growth.arm = arm;
  growth.role = role;
  growth.metric = "rss_growth_bytes_per_round";
  growth.slope = 1024;
  growth.verdict = verdict;
  growth.reason = "said";
  return growth;
}

TEST(ReportModel, TellsTheGrowthOfAJobOfOneProcessOnce) {
  Sample sample = make_sample();
  for (Comparison& row : sample.results.comparisons) row.gate = false;
  for (const char* role : {"command", "all"})
    sample.results.growth.push_back(growth_of("original", role, GrowthVerdict::growing));
  EXPECT_THAT(build_report_model(sample.results, sample.run).growth, testing::SizeIs(1));
  sample.results.growth.back().slope = 2048;
  EXPECT_THAT(build_report_model(sample.results, sample.run).growth, testing::SizeIs(2))
      << "other processes grow, too";
}

TEST(ReportModel, TellsAGrowthOnceThoughAHeadlineIsOfTheProcess) {
  Sample sample = make_sample();
  for (const char* role : {"server", "all"})
    sample.results.growth.push_back(growth_of("original", role, GrowthVerdict::flat));
  const ReportModel model = build_report_model(sample.results, sample.run);
  EXPECT_EQ(model.headlines[0].role, "server");
  EXPECT_THAT(model.growth, testing::SizeIs(1));
  for (const SideEffect& effect : model.side_effects)
    EXPECT_NE(effect.topic, Topic::growth) << effect.sentence;
}

TEST(ReportModel, TellsWhatIsNotKnownOfAnArmBesideWhatIsOfTheOther) {
  Sample sample = make_sample();
  for (Comparison& row : sample.results.comparisons) row.gate = false;
  sample.results.growth = {growth_of("original", "server", GrowthVerdict::flat),
                           growth_of("optimized", "server", GrowthVerdict::inconclusive)};
  const std::vector<Sentence> told = build_report_model(sample.results, sample.run).growth;
  ASSERT_THAT(told, testing::SizeIs(1));
  EXPECT_THAT(told[0].text(), testing::HasSubstr("optimized"));
}

TEST(ReportModel, SaysInOneLineWhoseMemoryKeepsGrowing) {
  Sample sample = make_sample();
  const std::string best = sample.results.comparisons[0].candidate;
  const auto overall = [&](GrowthVerdict baseline, GrowthVerdict candidate) {
    sample.results.growth = {growth_of(sample.results.baseline.c_str(), "all", baseline),
                             growth_of(best.c_str(), "all", candidate)};
    return build_report_model(sample.results, sample.run).overall;
  };
  using testing::HasSubstr;
  using testing::Not;
  EXPECT_THAT(overall(GrowthVerdict::flat, GrowthVerdict::growing), HasSubstr("keeps growing"));
  EXPECT_THAT(overall(GrowthVerdict::growing, GrowthVerdict::flat), HasSubstr("no longer grows"));
  EXPECT_THAT(overall(GrowthVerdict::growing, GrowthVerdict::inconclusive), Not(HasSubstr("grow")));
  EXPECT_THAT(overall(GrowthVerdict::flat, GrowthVerdict::leveling_off), Not(HasSubstr("grow")));
}

TEST(ReportModel, PutsGrowthThatCannotBeToldAmongTheOtherAnswers) {
  Sample sample = make_sample();
  sample.results.comparisons[0].metric = "rss_growth_bytes_per_round";
  sample.results.comparisons[0].role = "server";
  sample.results.comparisons[0].gate = true;
  Growth growth;
  growth.arm = "original";
  growth.role = "server";
  growth.metric = "rss_growth_bytes_per_round";
  growth.reason = "cannot tell yet: 50 rounds would";
  sample.results.growth = {growth};
  const ReportModel model = build_report_model(sample.results, sample.run);
  EXPECT_THAT(model.growth, testing::IsEmpty());
  EXPECT_EQ(model.side_effects.front().topic, Topic::growth);
  EXPECT_EQ(model.side_effects.front().sentence,
            "server memory from round to round: original: cannot tell yet: 50 rounds would.");
}

Growth inconclusive(const std::string& arm, const std::string& role, double low, double high) {
  Growth growth;
  growth.arm = arm;
  growth.role = role;
  growth.metric = "rss_growth_bytes_per_round";
  growth.ci_low = low;
  growth.ci_high = high;
  return growth;
}

TEST(ReportModel, TellsOfGrowthWithoutAGateOnIt) {
  constexpr double kMiB = 1 << 20;
  Sample sample = make_sample({.candidates = 2});
  sample.results.growth = {inconclusive("original", "server", -16.8 * kMiB, 43 * kMiB),
                           inconclusive("original", "all", -1 * kMiB, 2 * kMiB),
                           inconclusive("optimized", "server", -2.514 * kMiB, 15.95 * kMiB)};
  for (Growth& growth : sample.results.growth) growth.reason = "cannot tell yet: 50 rounds would";
  const ReportModel model = build_report_model(sample.results, sample.run);
  EXPECT_THAT(model.growth, testing::IsEmpty());
  EXPECT_EQ(model.side_effects.front().sentence,
            "server memory from round to round: cannot tell yet: 50 rounds would.")
      << "one reason of all arms is said once";
}

/// The sentences of a job in which no gate asks about growth.
std::vector<std::string> growth_sentences(const std::vector<Growth>& growth) {
  Sample sample = make_sample();
  for (Comparison& row : sample.results.comparisons) row.gate = false;
  sample.results.growth = growth;
  std::vector<std::string> texts;
  for (const Sentence& one : build_report_model(sample.results, sample.run).growth)
    texts.push_back(one.text());
  return texts;
}

TEST(ReportModel, TellsTheGrowthOfTheRoleThatRises) {
  constexpr double kMiB = 1 << 20;
  Growth server = inconclusive("optimized", "server", 30 * kMiB, 46 * kMiB);
  server.slope = 38.6 * kMiB;
  server.reason = "rises by 38.6 MiB a round so far";
  EXPECT_THAT(growth_sentences({growth_of("optimized", "all", GrowthVerdict::flat), server}),
              testing::ElementsAre(testing::AllOf(testing::StartsWith("server memory"),
                                                  testing::HasSubstr("rises by 38.6 MiB"))));
}

TEST(ReportModel, TellsNoTrifleBesideGrowthThatMatters) {
  constexpr double kKiB = 1024;
  Growth server = growth_of("optimized", "server", GrowthVerdict::growing);
  server.slope = 912 * kKiB;
  Growth load = growth_of("optimized", "load", GrowthVerdict::growing);
  load.slope = 30.4 * kKiB;
  EXPECT_THAT(growth_sentences({server, load}),
              testing::ElementsAre(testing::StartsWith("server memory")));
  EXPECT_THAT(growth_sentences({load, growth_of("optimized", "all", GrowthVerdict::flat)}),
              testing::ElementsAre(testing::StartsWith("load memory")))
      << "alone it may matter by the horizon";
}

TEST(ReportModel, NamesTheBestOfSeveralCandidatesAndPutsItFirst) {
  const ReportModel model = sample_model({.candidates = 2});
  // 605 and 365 MiB against 221 MiB: see make_sample; the clients are the same in all arms.
  EXPECT_THAT(model.best.text(), testing::StartsWith("Best of 2 candidates: "));
  EXPECT_THAT(model.best.text(), testing::HasSubstr("server memory above idle at its peak: "));
  ASSERT_EQ(model.headlines.size(), 4u);
  EXPECT_EQ(model.best.text().find(model.headlines[0].candidate),
            std::string("Best of 2 candidates: ").size());
  EXPECT_NE(model.headlines[0].candidate, "optimized") << "the second has 0.36 of the baseline";
  EXPECT_EQ(model.side_effects[0].sentence, "The final models of all 3 arms are bit-identical.");
  EXPECT_EQ(model.side_effects[1].sentence, "Validation accuracy: 91.25% with every arm.");
}

TEST(ReportModel, PutsFailedGatesFirst) {
  Sample sample = make_sample({.candidates = 2});
  GateResult& gate = sample.results.gates[1];
  gate.outcome = GateOutcome::failed;
  const ReportModel model = build_report_model(sample.results, sample.run);
  EXPECT_EQ(model.headlines[0].outcome, GateOutcome::failed);
  EXPECT_EQ(model.headlines[0].candidate, gate.candidate);
  EXPECT_THAT(model.overall, testing::HasSubstr(" " + gate.candidate + ": 1 gate failed."));
}

TEST(ReportModel, TellsHowFarARunningRunIs) {
  const Sample sample = make_sample({.blocks = 7});
  ReportOptions options;
  options.running = {8, 12, 16};
  const ReportModel model = build_report_model(sample.results, sample.run, options);
  EXPECT_EQ(model.progress,
            "The run is still going: 7 of at most 16 blocks; no verdict before block 8.");
  options.running = {7};
  const ReportModel looked = build_report_model(sample.results, sample.run, options);
  EXPECT_EQ(looked.progress, "The run is still going: 7 of 7 blocks.");
  EXPECT_EQ(looked.headlines[0].verdict, Verdict::improved);
}

TEST(ReportModel, SaysThatARunWasCutOff) {
  EXPECT_EQ(sample_model({.blocks = 5}).progress, "The run ended after 5 of 8 blocks.");
  EXPECT_EQ(sample_model({.blocks = 8}).progress, "");
}

TEST(ReportModel, OfARunWithoutTrialsHasNoSections) {
  const ReportModel model = sample_model({.blocks = -1});
  EXPECT_TRUE(model.headlines.empty());
  EXPECT_TRUE(model.timelines.empty());
  EXPECT_EQ(model.blocks_done, 0);
}

}  // namespace
}  // namespace memduel
