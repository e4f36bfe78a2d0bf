#include <gmock/gmock.h>

#include "profile/difference.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Three places below main: site 0 and 1 of `keep` in two phases, site 2 of `model`.
Profile kept_in_rounds() {
  Profile profile;
  profile.phases = {"", "upload", "train"};
  for (const char* function : {"main", "keep", "model"})
    profile.locations.push_back(
        {ProfileLocation::Kind::native, std::nullopt, 0, {{function, "job.cpp", 1}}});
  profile.locations[1].names[0].line = 7;
  profile.stacks.push_back({0, 0});
  profile.stacks.push_back({1, 1});
  profile.stacks.push_back({1, 2});
  profile.sites.resize(3);
  profile.sites[0] = {2, 1, 1, 1, Heap::malloc, {}, {}, {}};
  profile.sites[1] = {2, 2, 2, 1, Heap::malloc, {}, {}, {}};
  profile.sites[2] = {3, 0, 0, 1, Heap::malloc, {}, {}, {}};
  const auto cell = [&](int born, int end, LiveSites sites) {
    profile.retention.push_back({born, end, {}, std::move(sites)});
  };
  cell(0, 1, {{2, {100, 1, 0, 1}}});
  cell(1, 1, {{0, {10, 1, 0, 1}}});
  cell(0, 2, {{2, {100, 1, 0, 1}}});
  cell(1, 2, {{0, {10, 1, 0, 1}}});
  cell(2, 2, {{1, {25, 1, 0, 1}}});
  return profile;
}

TEST(LiveAtRoundEnds, AddUpTheColumnsOfTheRetentionMatrixByFunctions) {
  const LiveAtRoundEnds live = live_at_round_ends(kept_in_rounds());
  EXPECT_THAT(live.rounds, ElementsAre(1, 2));
  ASSERT_EQ(live.stacks.size(), 2U);
  EXPECT_THAT(live.stacks[0].stack, ElementsAre("main", "keep"));
  EXPECT_THAT(live.stacks[0].bytes, ElementsAre(10, 35));
  EXPECT_EQ(live.stacks[0].phase, "train") << "25 of 35 bytes";
  EXPECT_EQ(live.stacks[0].location, "job.cpp:7");
  EXPECT_THAT(live.stacks[1].stack, ElementsAre("main", "model"));
  EXPECT_THAT(live.stacks[1].bytes, ElementsAre(100, 100));
}

TEST(LiveAtRoundEnds, AreNoneWithoutRounds) {
  EXPECT_THAT(live_at_round_ends(Profile()).rounds, IsEmpty());
}

}  // namespace
}  // namespace memduel
