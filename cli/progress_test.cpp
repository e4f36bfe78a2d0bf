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

TEST(RunProgress, PrintsOneLineABlockWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    RunProgress shown(false, {});
    Progress progress = fifth_of_sixteen();
    shown.show(progress);
    progress.arm = "b";
    ++progress.done;
    shown.show(progress);
    progress.block = 4;
    ++progress.done;
    shown.show(progress);
    progress.arm.clear();
    shown.show(progress);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "trial 5 of 16, 2 min left\ntrial 7 of 16, 2 min left\n");
}

}  // namespace
}  // namespace memduel::cli
