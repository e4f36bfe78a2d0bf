#include "analysis/growth/growing_stacks.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// 2 rounds of warm-up, then 8 that count.
LiveAtRoundEnds ten_rounds() {
  LiveAtRoundEnds live;
  LiveStack leak{{"main", "keep"}, "upload", {}};
  LiveStack model{{"main", "load"}, "", {}};
  LiveStack once{{"main", "cache"}, "", {}};
  LiveStack crumbs{{"main", "log"}, "", {}};
  for (int round = 1; round <= 10; ++round) {
    live.rounds.push_back(round);
    leak.bytes.push_back(262144.0 * round);
    model.bytes.push_back(1e9);
    once.bytes.push_back(round < 4 ? 0 : 5e6);
    crumbs.bytes.push_back(100.0 * round);
  }
  live.stacks = {model, once, crumbs, leak};
  return live;
}

TEST(GrowingStacks, AreThoseThatHaveMoreFromRoundToRound) {
  const auto stacks = growing_stacks(ten_rounds(), 270'000, 0);
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_THAT(stacks[0].stack, ElementsAre("main", "keep"));
  EXPECT_EQ(stacks[0].phase, "upload");
  EXPECT_EQ(stacks[0].bytes_per_round, 262144);
  EXPECT_EQ(stacks[0].last_bytes, 10 * 262144);
}

TEST(GrowingStacks, NeedThreeRoundsAfterWarmUp) {
  LiveAtRoundEnds live = ten_rounds();
  live.rounds.resize(4);
  EXPECT_THAT(growing_stacks(live, 270'000, 0), IsEmpty());
}

TEST(GrowingStacks, AreAskedForWhereGrowthReachesTheMargin) {
  Growth row;
  row.metric = "rss_growth_bytes_per_round";
  row.slope = 64 * 1024;
  EXPECT_TRUE(asks_for_stacks(row));
  row.slope = 64 * 1024 - 1;
  EXPECT_FALSE(asks_for_stacks(row));
  row.metric = "rss_growth_bytes_per_minute";
  row.slope = 1e9;
  EXPECT_FALSE(asks_for_stacks(row)) << "the retention matrix has rounds";
}

}  // namespace
}  // namespace memduel
