// What is estimated of a run that goes on, from trials with known values.
#include "verdict/so_far.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace memduel {
namespace {

class SoFarTest : public testing::Test {
 protected:
  /// Of variants a and b, with `gates`.
  static SoFar of(const std::vector<std::string>& gates = {}) {
    const Document config = document_of_run(
        {{"variants", {{{"name", "a"}}, {{"name", "b"}}}}, {"baseline", "a"}, {"gates", gates}});
    return {config, {}, settings_from_config(config)};
  }

  static TrialData trial(int block, const std::string& arm, double peak_rss, double seconds = 1) {
    TrialData trial;
    trial.block = block;
    trial.arm = arm;
    for (const char* role : {"server", kTree}) {
      trial.roles.emplace_back();
      trial.roles.back().role = role;
      trial.roles.back().metrics[kPeakRss] = role == kTree ? 10 * peak_rss : peak_rss;
    }
    trial.roles.front().metrics[kCpuSeconds] = seconds;
    return trial;
  }
};

TEST_F(SoFarTest, IsEstimatedFromTwoBlocksOn) {
  SoFar so_far = of();
  so_far.add(trial(1, "a", 100));
  so_far.add(trial(1, "b", 50));
  so_far.add(trial(2, "a", 100));
  EXPECT_TRUE(so_far.changes().empty()) << "the second block is not complete";
  so_far.add(trial(2, "b", 50));
  ASSERT_EQ(so_far.changes().size(), 1U);
  const ChangeSoFar change = so_far.changes().front();
  EXPECT_EQ(change.candidate, "b");
  EXPECT_EQ(change.row.role, kTree);
  EXPECT_EQ(change.row.metric, kPeakRss);
  EXPECT_EQ(change.blocks, 2);
  EXPECT_NEAR(change.effect, std::log(0.5), 1e-12);
  EXPECT_NEAR(change.interval.high, change.effect, 1e-12) << "the same in both blocks";
}

TEST_F(SoFarTest, IsOfTheFirstGateThatIsNotOnGrowth) {
  SoFar so_far = of({"server.rss_growth_bytes_per_round<=1KiB", "server.cpu_seconds<=+5%",
                     "all.peak_rss_bytes<=+1%"});
  for (const int block : {1, 2}) {
    so_far.add(trial(block, "a", 100, 1));
    so_far.add(trial(block, "b", 100, block == 1 ? 2 : 4));
  }
  ASSERT_EQ(so_far.changes().size(), 1U);
  const ChangeSoFar change = so_far.changes().front();
  EXPECT_EQ(change.row.role, "server");
  EXPECT_EQ(change.row.metric, kCpuSeconds);
  EXPECT_NEAR(change.effect, (std::log(2) + std::log(4)) / 2, 1e-12);
  EXPECT_TRUE(change.interval.contains(0)) << "two blocks that differ decide nothing";
}

TEST_F(SoFarTest, LeavesOutWarmUpsFailedTrialsAndDroppedBlocks) {
  SoFar so_far = of({"*.peak_rss_bytes<=+1%"});
  for (const int block : {1, 2, 3, 4})
    for (const char* arm : {"a", "b"}) {
      TrialData one = trial(block, arm, 100);
      if (block == 1) one.kind = TrialKind::warmup;
      if (block == 2 && one.arm == "b") one.status = TrialStatus::failed;
      so_far.add(one);
    }
  ASSERT_EQ(so_far.changes().size(), 1U);
  EXPECT_EQ(so_far.changes().front().blocks, 2);
  EXPECT_EQ(so_far.changes().front().effect, 0);
  so_far.drop(4);
  EXPECT_TRUE(so_far.changes().empty());
}

}  // namespace
}  // namespace memduel
