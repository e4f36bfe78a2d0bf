#include "experiment/watch/watched_rounds.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

TEST(WatchedRounds, KeepsEvenlySpacedOnesFromTheFirst) {
  WatchedRounds rounds(8);
  for (int round = 1; round <= 16; ++round) rounds.add({round, 0, 0, 0});
  std::vector<int> kept;
  for (const RoundEnd& end : rounds.kept()) kept.push_back(end.round);
  EXPECT_THAT(kept, testing::ElementsAre(1, 5, 9, 13));
  EXPECT_EQ(rounds.count(), 16);
}

TEST(WatchedRounds, StaysBounded) {
  WatchedRounds rounds(128);
  for (int round = 1; round <= 1'000'000; ++round) {
    rounds.add({round, 0, 0, 0});
    ASSERT_LT(rounds.kept().size(), 128U);
  }
  EXPECT_GE(rounds.kept().size(), 60U);
  EXPECT_EQ(rounds.kept().front().round, 1);
  EXPECT_GT(rounds.kept().back().round, 980'000);
}

}  // namespace
}  // namespace memduel
