#include "cli/print.h"

#include <gtest/gtest.h>

namespace memduel::cli {
namespace {

std::string printed(bool quiet) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line(quiet);
    line.show("trial 1 of 4");
    line.say("a message");
  }
  return testing::internal::GetCapturedStderr();
}

TEST(ProgressLine, PrintsPlainLinesWithoutATerminal) {
  EXPECT_EQ(printed(false), "trial 1 of 4\na message\n");
}

TEST(ProgressLine, PrintsNothingIfQuiet) {
  EXPECT_EQ(printed(true), "");
}

}  // namespace
}  // namespace memduel::cli
