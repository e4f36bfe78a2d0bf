#include "cli/resume_command.h"

#include <gtest/gtest.h>

namespace memduel::cli {
namespace {

TEST(ResumeCommand, HasTheOptionsOfTheStart) {
  EXPECT_EQ(resume_command({"/opt/bin/memduel", "run", "t.json", "--repeats", "6", "--max-minutes",
                            "1", "--gate", "tree.peak_rss_bytes<=+2%"},
                           "runs/t 1"),
            "memduel run t.json --repeats 6 --gate 'tree.peak_rss_bytes<=+2%' --out 'runs/t 1' "
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

}  // namespace
}  // namespace memduel::cli
