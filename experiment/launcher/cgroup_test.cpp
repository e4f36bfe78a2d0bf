#include "experiment/launcher/cgroup.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

constexpr const char* kHybrid =
    "30 23 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
    "35 30 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "36 30 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(OwnCgroupDirectory, FindsBothHierarchiesOfAHybridSystem) {
  const std::string membership = "8:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/user.slice\n";
  EXPECT_EQ(own_cgroup_directory(kHybrid, membership, "memory"), "/sys/fs/cgroup/memory/jobs/7");
  EXPECT_EQ(own_cgroup_directory(kHybrid, membership, ""), "/sys/fs/cgroup/unified/user.slice");
  EXPECT_EQ(own_cgroup_directory(kHybrid, "0::/\n", ""), "/sys/fs/cgroup/unified");
}

TEST(OwnCgroupDirectory, CutsTheRootOffThatAContainerSees) {
  EXPECT_EQ(
      own_cgroup_directory(
          "40 30 0:32 /docker/ab12 /sys/fs/cgroup/memory ro master:1 - cgroup cgroup rw,memory\n",
          "8:memory:/docker/ab12/sub\n", "memory"),
      "/sys/fs/cgroup/memory/sub");
}

TEST(OwnCgroupDirectory, IsEmptyWhereNothingIsMounted) {
  EXPECT_EQ(own_cgroup_directory("", "8:memory:/a\n", "memory"), "");
  EXPECT_EQ(own_cgroup_directory(kHybrid, "", "memory"), "");
  EXPECT_EQ(own_cgroup_directory("garbage\n1 2\n", "8:memory:/a\n", "memory"), "");
}

TEST(Cgroup, AGroupThatDoesNotExistHasNoNumbersAndNoProcesses) {
  const TrialCgroup none;
  EXPECT_FALSE(none.exists());
  EXPECT_TRUE(processes_in(none).empty());
  EXPECT_FALSE(peak_bytes_of(none).has_value());
  EXPECT_FALSE(oom_kills_of(none).has_value());
  EXPECT_EQ(join_cgroup(none), 0);
}

}  // namespace
}  // namespace memduel
