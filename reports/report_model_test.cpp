#include "reports/report_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_sample_run.h"

namespace memduel {
namespace {

TEST(ReportModel, CountsOnlyBlocksThatHoldEveryArm) {
  Sample sample = make_sample({.blocks = 5});
  sample.run.trials.pop_back();
  const ReportModel model = build_report_model(sample.results, sample.run);
  EXPECT_EQ(model.blocks_done, 4);
  EXPECT_EQ(model.blocks_planned, 8);
}

TEST(ReportModel, StatesHowFarARunningRunIs) {
  const Sample sample = make_sample({.blocks = 7});
  ReportOptions options;
  options.running = {8, 12, 16};
  EXPECT_EQ(build_report_model(sample.results, sample.run, options).progress,
            "The run is still going: 7 of at most 16 trials each; no verdict before trial 8.");
  options.running = {7};
  EXPECT_EQ(build_report_model(sample.results, sample.run, options).progress,
            "The run is still going: 7 of 7 trials each.");
}

TEST(ReportModel, StatesThatARunWasCutOff) {
  EXPECT_EQ(sample_model({.blocks = 5}).progress, "The run ended after 5 of 8 trials each.");
  EXPECT_EQ(sample_model({.blocks = 8}).progress, "");
}

TEST(ReportModel, OfARunWithoutTrialsHasNoSections) {
  const ReportModel model = sample_model({.blocks = -1});
  EXPECT_TRUE(model.results.first_screen.rows.empty());
  EXPECT_TRUE(model.timelines.empty());
  EXPECT_EQ(model.blocks_done, 0);
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

/// The lines about growth on the first screen of a job in which no gate asks about it.
std::vector<std::string> growth_lines_of(const std::vector<Growth>& growth,
                                         bool has_gates = false) {
  Sample sample = make_sample({.series = false});
  if (!has_gates)
    for (Comparison& row : sample.results.comparisons) row.gate = false;
  sample.results.growth = growth;
  const ReportDocument document = document_of(build_report_model(sample.results, sample.run));
  std::vector<std::string> lines;
  for (const Section& section : document.first_screen)
    if (section.id == "growth-notice")
      for (const Part& part : section.parts)
        lines.push_back(std::get<Paragraph>(part.value).text.plain());
  return lines;
}

TEST(GrowthOnTheFirstScreen, OfAJobOfOneProcessIsStatedOnce) {
  std::vector<Growth> growth = {growth_of("original", "command", GrowthVerdict::growing),
                                growth_of("original", "all", GrowthVerdict::growing)};
  EXPECT_THAT(growth_lines_of(growth), testing::SizeIs(1));
  growth.back().slope = 2048;
  EXPECT_THAT(growth_lines_of(growth), testing::SizeIs(2)) << "other processes grow, too";
}

TEST(GrowthOnTheFirstScreen, StatesWhatIsInconclusiveBesideWhatIsKnown) {
  const auto lines =
      growth_lines_of({growth_of("original", "server", GrowthVerdict::flat),
                       growth_of("optimized", "server", GrowthVerdict::inconclusive)});
  ASSERT_THAT(lines, testing::SizeIs(1));
  EXPECT_THAT(lines[0], testing::StartsWith("server RSS growth per round: original does not grow; "
                                            "optimized is inconclusive: +1.00 KiB per round"));
}

TEST(GrowthOnTheFirstScreen, OfNothingKnownIsNone) {
  EXPECT_THAT(growth_lines_of({growth_of("original", "server", GrowthVerdict::inconclusive)}),
              testing::IsEmpty());
}

TEST(GrowthOnTheFirstScreen, StatesWhenTheMemoryLimitIsReached) {
  constexpr double kGiB = 1 << 30;
  Growth growth = growth_of("original", "server", GrowthVerdict::growing);
  growth.slope = 0.78 * kGiB;
  growth.ci_low = 0.75 * kGiB;
  growth.ci_high = 0.8 * kGiB;
  growth.projection = Projection{24 * kGiB, 31.0, 30.0, 33.0, 62.5};
  EXPECT_THAT(
      growth_lines_of({growth}),
      testing::ElementsAre(
          "server RSS growth per round: original grows: +798.7 MiB per round (95% CI +768.0 "
          "MiB to +819.2 MiB), reaches the memory limit of 24.0 GiB in round 31 (30–33), 62 "
          "min 30 s after the first began."));
}

TEST(GrowthOnTheFirstScreen, LeavesOutATrifleBesideGrowthThatMatters) {
  Growth server = growth_of("optimized", "server", GrowthVerdict::growing);
  server.slope = 912 * 1024.0;
  Growth load = growth_of("optimized", "load", GrowthVerdict::growing);
  load.slope = 30.4 * 1024;
  EXPECT_THAT(growth_lines_of({server, load}),
              testing::ElementsAre(testing::StartsWith("server RSS")));
  EXPECT_THAT(growth_lines_of({load, growth_of("optimized", "all", GrowthVerdict::flat)}),
              testing::ElementsAre(testing::StartsWith("load RSS")))
      << "alone it may matter by the horizon";
}

TEST(GrowthOnTheFirstScreen, IsInTheSentenceIfItMatters) {
  Sample sample = make_sample({.series = false});
  const std::string best = sample.results.comparisons[0].candidate;
  const auto sentence = [&](GrowthVerdict baseline, GrowthVerdict candidate) {
    sample.results.growth = {growth_of(sample.results.baseline.c_str(), "all", baseline),
                             growth_of(best.c_str(), "all", candidate)};
    return document_of(build_report_model(sample.results, sample.run)).sentence.plain();
  };
  using testing::HasSubstr;
  using testing::Not;
  EXPECT_THAT(sentence(GrowthVerdict::flat, GrowthVerdict::growing), HasSubstr("keeps growing"));
  EXPECT_THAT(sentence(GrowthVerdict::growing, GrowthVerdict::flat), HasSubstr("no longer grows"));
  EXPECT_THAT(sentence(GrowthVerdict::growing, GrowthVerdict::inconclusive),
              Not(HasSubstr("grow")));
}

}  // namespace
}  // namespace memduel
