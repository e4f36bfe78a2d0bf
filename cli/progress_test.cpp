#include "progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "util/text.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Progress fifth_of_sixteen() {
  Progress progress;
  progress.done = 4;
  progress.total = 16;
  progress.remaining_seconds = 101;
  progress.arm = "a";
  progress.block = 3;
  return progress;
}

ChangeSoFar change(const std::string& candidate, double ratio, double low, double high) {
  ChangeSoFar change{"a", candidate, {"all", "peak_rss_bytes"}, {}, 0, {}, 2};
  change.scale = {"peak_rss_bytes", Scale::logarithm, 1e6};
  change.effect = std::log(ratio);
  change.interval = {std::log(low), std::log(high)};
  return change;
}

TEST(LiveLine, CountsTrialsAndTimeBeforeTwoBlocks) {
  Progress progress = fifth_of_sixteen();
  EXPECT_EQ(live_line(progress, {}, 79), "trial 5 of 16  a  2 min left");
  progress.disk_bytes = 3 << 20;
  EXPECT_EQ(live_line(progress, {}, 79), "trial 5 of 16  a  2 min left  up to 3.00 MiB of disk");
  progress.block = 0;
  progress.done = 0;
  progress.remaining_seconds.reset();
  progress.disk_bytes.reset();
  EXPECT_EQ(live_line(progress, {"2/3 quick, ", 0, false}, 79),
            "2/3 quick, trial 1 of 16  a, warm-up");
  progress.block = kProfileBlock;
  progress.tracer = "recorder";
  progress.done = 16;
  EXPECT_EQ(live_line(progress, {}, 79), "trial 17 of 17  a, profiled by recorder");
}

TEST(LiveLine, GivesTheEstimateWithItsInterval) {
  Progress progress = fifth_of_sixteen();
  progress.changes = {change("b", 0.59, 0.56, 0.62)};
  EXPECT_EQ(live_line(progress, {}, 99),
            "trial 5 of 16  a  2 min left  b vs. a so far: peak RSS −41% (95% CI −44% to −38%)");
  EXPECT_EQ(live_line(progress, {}, 79),
            "trial 5 of 16  2 min left  b vs. a so far: peak RSS −41% (95% CI −44% to −38%)");
  EXPECT_EQ(live_line(progress, {}, 72),
            "trial 5 of 16  2 min left  b vs. a so far: peak RSS −41% (−44% to −38%)");
  EXPECT_EQ(live_line(progress, {}, 57),
            "trial 5 of 16  2 min left  b vs. a so far: peak RSS −41%");
  EXPECT_EQ(live_line(progress, {}, 40), "trial 5 of 16  a  2 min left");
  EXPECT_THAT(live_line(progress, {"", 0, true}, 99),
              HasSubstr("so far: all processes peak RSS −41%"));
}

TEST(LiveLine, GivesFactorsFromTwoOnAndNoIntervalOfEqualBlocks) {
  Progress progress = fifth_of_sixteen();
  progress.changes = {change("b", 2.5, 2.5, 2.5), change("c", 1.04, 1, 1.1)};
  EXPECT_EQ(live_line(progress, {}, 79),
            "trial 5 of 16  a  2 min left  b vs. a so far: peak RSS 2.5×, c +4.0%");
}

TEST(LiveLine, FitsEveryWidthThatHasAShorterForm) {
  Progress progress = fifth_of_sixteen();
  progress.changes = {change("candidate", 0.9996, 0.001, 3000), change("c", 1, 1, 1)};
  for (std::size_t width = 28; width < 120; ++width)
    EXPECT_LE(count_characters(live_line(progress, {}, width)), width);
}

TEST(BlockLine, IsPlainText) {
  Progress progress = fifth_of_sixteen();
  EXPECT_EQ(block_line(progress, {}), "trial 5 of 16, 2 min left");
  progress.changes = {change("b", 0.59, 0.56, 0.62)};
  EXPECT_EQ(block_line(progress, {}),
            "trial 5 of 16, 2 min left; b vs. a so far: peak RSS −41% (95% CI −44% to −38%)");
}

/// What is printed of trials that begin at these seconds, each block with two of them.
std::string lines_without_a_terminal(const std::vector<int>& seconds) {
  RunProgress::Clock::time_point now;
  testing::internal::CaptureStderr();
  {
    RunProgress shown(false, {}, [&now] { return now; });
    Progress progress = fifth_of_sixteen();
    for (std::size_t trial = 0; trial < seconds.size(); ++trial) {
      now = RunProgress::Clock::time_point() + std::chrono::seconds(seconds[trial]);
      progress.done = static_cast<int>(trial);
      progress.block = 1 + static_cast<int>(trial) / 2;
      shown.show(progress);
    }
    progress.arm.clear();
    shown.show(progress);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(RunProgress, PrintsOneLineABlockWithoutATerminal) {
  EXPECT_EQ(lines_without_a_terminal({10, 20, 30, 40}),
            "trial 1 of 16, 2 min left\ntrial 3 of 16, 2 min left\n");
}

TEST(RunProgress, PrintsNoLineWithinFiveSecondsOfTheLastOne) {
  EXPECT_EQ(lines_without_a_terminal({0, 1, 2, 3, 4, 4}), "");
  EXPECT_EQ(lines_without_a_terminal({0, 3, 6, 9, 10, 11, 12, 13}),
            "trial 3 of 16, 2 min left\ntrial 6 of 16, 2 min left\n");
}

}  // namespace
}  // namespace memduel::cli
