#include <gtest/gtest.h>

#include "analysis/analyse.h"

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
  EXPECT_EQ(settings_from_config(nlohmann::json::object()).looks.size(), 3U);
}

TEST(PlannedLooks, CountTheGatesOfAllCandidates) {
  const nlohmann::json config = {
      {"workload", {{"kind", "command"}}},
      {"arms",
       {{{"name", "a"}}, {{"name", "b"}}, {{"name", "c"}}, {{"name", "t"}, {"control", true}}}}};
  // Two default gates for two candidates: .02 / 4 is below 2^(1-8), so that 8 blocks are refused.
  const CheckedLooks looks = planned_looks(config, settings_from_config(config));
  ASSERT_EQ(looks.looks.size(), 2U);
  EXPECT_EQ(looks.looks.front().blocks, 12);
}

TEST(SettingsFromConfig, RefusesAWrongGateOrNumber) {
  EXPECT_THROW(settings_from_config({{"gates", {"tree.peak_rss_bytes<=1"}}}), Error);
  EXPECT_THROW(settings_from_config({{"measure", {{"repeats", "many"}}}}), Error);
}

}  // namespace
}  // namespace memduel
