#include "trace_stacks.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

// The recorder forgets its nodes when it has too many, and numbers those in use anew.
TEST(TraceStacks, ANodeThatComesAgainIsTheSameStack) {
  Profile profile;
  TraceStacks stacks(profile);
  stacks.add_node({0, 0x1000});  // node 1
  stacks.add_node({1, 0x10});    // node 2, below 1
  stacks.add_node({0, 0x10});    // node 3
  stacks.add_node({0, -0x20});   // node 4, as 1
  stacks.add_node({4, 0x10});    // node 5, as 2
  EXPECT_EQ(stacks.known(4), stacks.known(1));
  EXPECT_EQ(stacks.known(5), stacks.known(2));
  EXPECT_NE(stacks.known(3), stacks.known(1));
  EXPECT_EQ(profile.stacks.size(), 4U) << "three and the root";
  EXPECT_THROW(static_cast<void>(stacks.known(6)), std::out_of_range);
}

TEST(TraceStacks, LostNodesKeepTheNumbersOfThoseThatFollow) {
  Profile profile;
  TraceStacks stacks(profile);
  stacks.add_node({0, 0x1000});
  stacks.expect(4);
  stacks.add_node({1, 0x10});
  EXPECT_EQ(stacks.lost(), 2);
  EXPECT_EQ(profile.stacks[stacks.known(4)].parent, stacks.known(1));
}

}  // namespace
}  // namespace memduel
