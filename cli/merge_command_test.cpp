#include "cli/merge_command.h"

#include <gtest/gtest.h>

namespace memduel::cli {
namespace {

TEST(MergeCommand, NamesTheSharesBesideThisOne) {
  EXPECT_EQ(
      advice_to_merge({2, 3}, "/runs/share-2"),
      "When all 3 shares are measured:\n  memduel merge /runs/share-1 /runs/share-2 /runs/share-3 "
      "--out /runs/share-merged");
  EXPECT_EQ(
      advice_to_merge({1, 2}, "of host 1"),
      "When all 2 shares are measured:\n  memduel merge 'of host 1' 'of host 2' --out 'of host "
      "merged'");
}

TEST(MergeCommand, IsNoneWhereTheNamesAreNotKnown) {
  const std::string none = "When all 3 shares are measured, merge them with memduel merge.";
  EXPECT_EQ(advice_to_merge({2, 3}, "here"), none);
  EXPECT_EQ(advice_to_merge({2, 3}, "runs/t-20261128-064542"), none) << "a time ends with 2";
  EXPECT_EQ(advice_to_merge({2, 3}, "2"), none);
}

}  // namespace
}  // namespace memduel::cli
