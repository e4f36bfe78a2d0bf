#include "base/printed_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel {
namespace {

using testing::ElementsAre;

TEST(PrintedCommand, LosesAnOptionInBothItsForms) {
  EXPECT_THAT(without_option({"memduel", "run", "--out", "a", "t.json", "--out=b"}, "--out", 1),
              ElementsAre("memduel", "run", "t.json"));
  EXPECT_THAT(without_option({"memduel", "run", "--resume", "t.json"}, "--resume", 0),
              ElementsAre("memduel", "run", "t.json"));
  EXPECT_THAT(without_option({"memduel", "run", "--output", "a"}, "--out", 1),
              ElementsAre("memduel", "run", "--output", "a"));
}

TEST(PrintedCommand, LeavesTheProgramItsWords) {
  EXPECT_THAT(without_option({"memduel", "compare", "--", "p", "--out", "y"}, "--out", 1),
              ElementsAre("memduel", "compare", "--", "p", "--out", "y"));
  EXPECT_THAT(with_options({"memduel", "compare", "--", "p"}, {"--repeats", "6"}),
              ElementsAre("memduel", "compare", "--repeats", "6", "--", "p"));
  EXPECT_THAT(with_options({"memduel", "run", "t.json"}, {"--repeats", "6"}),
              ElementsAre("memduel", "run", "t.json", "--repeats", "6"));
}

TEST(PrintedCommand, StandsOnALineOfItsOwn) {
  EXPECT_EQ(with_command("go on with", "memduel run t.json"), "go on with:\n  memduel run t.json");
}

TEST(PrintedCommand, LosesSettingsOfAKey) {
  EXPECT_THAT(without_setting({"memduel", "compare", "--set", "measure.repeats=4", "--set",
                               "measure.seed=2", "--set=measure.repeats=5"},
                              "measure.repeats"),
              ElementsAre("memduel", "compare", "--set", "measure.seed=2"));
  EXPECT_THAT(without_setting({"memduel", "watch", "--", "p", "--set", "measure.repeats=4"},
                              "measure.repeats"),
              ElementsAre("memduel", "watch", "--", "p", "--set", "measure.repeats=4"));
}

}  // namespace
}  // namespace memduel
