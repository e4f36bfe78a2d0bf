#include "cli/print.h"

#include <gtest/gtest.h>

namespace memduel::cli {
namespace {

std::string printed(bool quiet) {
  testing::internal::CaptureStderr();
  ProgressBar bar(quiet);
  bar.show(1, 4, "block 1: a");
  bar.say("a message");
  bar.finish();
  return testing::internal::GetCapturedStderr();
}

TEST(ProgressBar, IsPlainLinesWhereThereIsNoTerminal) {
  EXPECT_EQ(printed(false), "[1/4] block 1: a\na message\n");
}

TEST(ProgressBar, SaysNothingWhenQuiet) {
  EXPECT_EQ(printed(true), "");
}

}  // namespace
}  // namespace memduel::cli
