#include "watched_tree.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Root = WatchedTree::Root;

constexpr pid_t kSelf = 99;

ProcessLine line(pid_t pid, pid_t parent, std::uint64_t started, char state = 'S') {
  return {pid, parent, state, started};
}

class WatchedTreeTest : public testing::Test {
 protected:
  WatchedTreeTest() {
    tree_.add_root("command-1", line(10, 1, 100));
    tree_.add_root("command-2", line(20, 1, 100));
  }
  std::vector<pid_t> joined(std::vector<ProcessLine> processes) {
    processes.push_back(line(1, 0, 0));
    processes.push_back(line(kSelf, 1, 50));
    std::vector<pid_t> pids;
    for (const Member& member : tree_.update(processes, kSelf)) pids.push_back(member.pid);
    return pids;
  }
  WatchedTree tree_;
};

TEST_F(WatchedTreeTest, HoldsDescendantsOfEachRootAndNobodyElse) {
  // Numbers wrap around: a child may have a smaller one than its parent.
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110), line(3, 12, 120),
                      line(21, 20, 130), line(50, 1, 5), line(51, kSelf, 140)}),
              ElementsAre(12, 3, 21));
  EXPECT_THAT(tree_.members("command-1"), ElementsAre(10, 12, 3));
  EXPECT_THAT(tree_.members("command-2"), ElementsAre(20, 21));
  EXPECT_EQ(tree_.size(), 5U);
}

TEST_F(WatchedTreeTest, KeepsOneWhoseParentEnded) {
  joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110), line(13, 12, 120)});
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110, 'Z'), line(13, 1, 120),
                      line(14, 13, 130)}),
              ElementsAre(14));
  EXPECT_THAT(tree_.members("command-1"), ElementsAre(10, 13, 14));
}

TEST_F(WatchedTreeTest, DropsANumberThatCameBackAsAnotherProcess) {
  joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110)});
  // 12 ended, and a process of somebody else got its number.
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 1, 500)}), IsEmpty());
  EXPECT_THAT(tree_.members("command-1"), ElementsAre(10));
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 1, 500)}), IsEmpty());
  EXPECT_THAT(tree_.members("command-1"), ElementsAre(10));
}

TEST_F(WatchedTreeTest, TellsARootThatEndedFromOneWhoseNumberIsUsedAgain) {
  EXPECT_EQ(tree_.look_at_root(10, line(10, 1, 100)), Root::lives);
  EXPECT_EQ(tree_.look_at_root(10, line(10, 1, 100, 'Z')), Root::ended);
  EXPECT_EQ(tree_.look_at_root(10, std::nullopt), Root::ended);
  EXPECT_EQ(tree_.look_at_root(10, line(10, 1, 101)), Root::replaced);
}

}  // namespace
}  // namespace memduel
