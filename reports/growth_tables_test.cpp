#include <gmock/gmock.h>

#include "reports/memory_tables.h"

namespace memduel {
namespace {

using testing::ElementsAre;

Growth row_with(GrowthVerdict verdict) {
  Growth row;
  row.metric = "rss_growth_bytes_per_round";
  row.slope = 524288;
  row.verdict = verdict;
  return row;
}

TEST(GrowthLines, SayWhetherAndWhenMemoryRunsOut) {
  Results results;
  for (const GrowthVerdict verdict :
       {GrowthVerdict::growing, GrowthVerdict::growing, GrowthVerdict::flat, GrowthVerdict::stepped,
        GrowthVerdict::leveling_off, GrowthVerdict::inconclusive})
    results.growth.push_back(row_with(verdict));
  results.growth[0].projection = Projection{1073741824, 31, 30, 33, 10};
  results.growth[2].level = 1073741824;
  results.growth[5].rounds_needed = 60;
  std::vector<std::string> outlooks;
  for (const GrowthLine& line : growth_lines(results)) outlooks.push_back(line.outlook);
  EXPECT_THAT(
      outlooks,
      ElementsAre("reaches the memory limit of 1.00 GiB in round 31 (30–33), 10 min 00 s after "
                  "the first began",
                  "not within ten times these rounds", "no: stays near 1.00 GiB", "no", "no",
                  "inconclusive; needs about 60 rounds"));
}

TEST(GrowthLines, NameTheFunctionThatTellsMost) {
  Results results;
  results.growth.push_back(row_with(GrowthVerdict::growing));
  results.growth[0].stacks = {
      {{"main", "keep(State)", "operator new(unsigned long)"}, "upload", 262144, 1e6, "a.cpp:9"}};
  const GrowthLine line = growth_lines(results)[0];
  ASSERT_EQ(line.stacks.size(), 1U);
  EXPECT_EQ(line.stacks[0].function, "keep");
  EXPECT_EQ(line.stacks[0].amount, "256.0 KiB per round");
  EXPECT_EQ(line.stacks[0].bytes_per_round, 262144);
  EXPECT_EQ(line.stacks[0].caller, "main");
  EXPECT_EQ(line.stacks[0].phase, "upload");
  EXPECT_EQ(line.stacks[0].location, "a.cpp:9");
}

}  // namespace
}  // namespace memduel
