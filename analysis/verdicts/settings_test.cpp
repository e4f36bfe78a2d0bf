#include <gtest/gtest.h>

#include "analysis/verdicts/analyse.h"

namespace memduel {
namespace {

TEST(SettingsFromConfig, TakesRepeatsAsAFixedDesign) {
  const AnalysisSettings settings =
      settings_from_config({{"measure", {{"repeats", 10}, {"warmup_rounds", 1}, {"seed", 7}}},
                            {"gates", {"tree.peak_rss_bytes<=+1%"}}});
  ASSERT_EQ(settings.looks.size(), 1U);
  EXPECT_EQ(settings.looks[0].blocks, 10);
  EXPECT_EQ(settings.looks[0].alpha, 0.05);
  EXPECT_EQ(settings.warmup_rounds, 1);
  EXPECT_EQ(settings.seed, 7U);
  ASSERT_EQ(settings.gates.size(), 1U);
}

TEST(SettingsFromConfig, LooksAdaptivelyWithoutRepeats) {
  EXPECT_EQ(settings_from_config(nlohmann::json::object()).looks.size(), 4U);
}

TEST(PlannedLooks, CountTheGatesOfAllCandidates) {
  RunData run;
  run.config = {
      {"arms",
       {{{"name", "a"}}, {{"name", "b"}}, {{"name", "c"}}, {{"name", "t"}, {"control", true}}}},
      {"measure", {{"order", "superblocks"}}}};
  // Two default gates for three candidates: .01 / 6 is below 2 / 6^3, so that 6 blocks are refused.
  const CheckedLooks looks = planned_looks(run, settings_from_config(run.config));
  ASSERT_EQ(looks.looks.size(), 3U);
  EXPECT_EQ(looks.looks.front().blocks, 8);
}

TEST(PlannedLooks, DoNotCountGrowthWhereTooFewRoundsGiveIt) {
  RunData run;
  run.job = server_and_clients(2);
  run.config = {{"workload", {{"rounds", 49}}},
                {"arms", {{{"name", "a"}}, {{"name", "b"}}, {{"name", "c"}}, {{"name", "d"}}}},
                {"measure", {{"repeats", 5}}}};
  // Five blocks reach p = 2 / C(10, 5) = 0.0079: below .05 / 6, above .05 / 9.
  EXPECT_TRUE(planned_looks(run, settings_from_config(run.config)).limitations.empty());
  run.config["workload"]["rounds"] = 50;
  EXPECT_EQ(planned_looks(run, settings_from_config(run.config)).limitations.size(), 1U);
}

TEST(SettingsFromConfig, RefusesAWrongGateOrNumber) {
  EXPECT_THROW(settings_from_config({{"gates", {"tree.peak_rss_bytes<=1"}}}), Error);
  EXPECT_THROW(settings_from_config({{"measure", {{"repeats", "many"}}}}), Error);
}

}  // namespace
}  // namespace memduel
