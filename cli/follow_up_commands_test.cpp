#include "follow_up_commands.h"

#include <gtest/gtest.h>

namespace memduel::cli {
namespace {

TEST(ResumeCommand, HasTheOptionsOfTheStart) {
  EXPECT_EQ(resume_command({"/opt/bin/memduel", "run", "t.json", "--repeats", "6", "--max-minutes",
                            "1", "--gate", "all.peak_rss_bytes<=+2%"},
                           "runs/t 1"),
            "memduel run t.json --repeats 6 --gate 'all.peak_rss_bytes<=+2%' --out 'runs/t 1' "
            "--resume");
}

TEST(ResumeCommand, HasTheMinutesThatWouldDo) {
  EXPECT_EQ(resume_command({"memduel", "run", "t.json", "--max-minutes", "1"}, "t", 3.5),
            "memduel run t.json --max-minutes 3.5 --out t --resume");
}

TEST(ResumeCommand, ReplacesTheDirectoryAndLeavesTheProgramItsWords) {
  EXPECT_EQ(resume_command({"memduel", "compare", "--out=x", "--max-minutes=2", "--resume",
                            "--build-a", "a", "--build-b", "b", "--", "p", "--out", "y"},
                           "x"),
            "memduel compare --build-a a --build-b b --out x --resume -- p --out y");
}

TEST(MergeCommand, NamesTheSharesBesideThisOne) {
  EXPECT_EQ(
      advice_to_merge({2, 3}, "/runs/shard-2"),
      "When all 3 shards are measured:\n  memduel merge /runs/shard-1 /runs/shard-2 /runs/shard-3 "
      "--out /runs/shard-merged");
  EXPECT_EQ(
      advice_to_merge({1, 2}, "of host 1"),
      "When all 2 shards are measured:\n  memduel merge 'of host 1' 'of host 2' --out 'of host "
      "merged'");
}

TEST(MergeCommand, IsNoneWhereTheNamesAreNotKnown) {
  const std::string none = "When all 3 shards are measured, merge them with memduel merge.";
  EXPECT_EQ(advice_to_merge({2, 3}, "here"), none);
  EXPECT_EQ(advice_to_merge({2, 3}, "runs/t-20261128-064542"), none) << "a time ends with 2";
  EXPECT_EQ(advice_to_merge({2, 3}, "2"), none);
}

}  // namespace
}  // namespace memduel::cli
