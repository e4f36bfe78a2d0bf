#include "laboratory/replay_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(ReplayDevices, OneIsEveryRoles) {
  for (const char* role : {"server", "client", "simulator"}) {
    EXPECT_EQ(device_of_role({{"device", "cuda:1"}}, role), "cuda:1");
    EXPECT_EQ(device_of_role(json::object(), role), "cpu");
  }
}

TEST(ReplayDevices, AnObjectNamesThemByRoleAndLeavesTheOthersOnTheCpu) {
  const json workload = {{"device", {{"client", "cuda"}}}};
  EXPECT_EQ(device_of_role(workload, "server"), "cpu");
  EXPECT_EQ(device_of_role(workload, "client"), "cuda");
  EXPECT_THAT(devices_of(workload), ElementsAre("cpu", "cuda"));
}

TEST(ReplayDevices, CountGpusFromZero) {
  EXPECT_TRUE(is_gpu("cuda:12"));
  EXPECT_FALSE(is_gpu("cpu"));
  EXPECT_EQ(gpu_number("cuda"), 0);
  EXPECT_EQ(gpu_number("cuda:12"), 12);
}

}  // namespace
}  // namespace memduel
