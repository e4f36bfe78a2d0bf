#include "meters/cgroup.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace memduel {
namespace {

TEST(Cgroup, AGroupThatDoesNotExistHasNoNumbersAndNoProcesses) {
  const TrialCgroup none;
  EXPECT_FALSE(none.exists());
  EXPECT_TRUE(processes_in(none).empty());
  EXPECT_FALSE(peak_bytes_of(none).has_value());
  EXPECT_FALSE(oom_kills_of(none).has_value());
  EXPECT_EQ(join_cgroup(none), 0);
  EXPECT_EQ(limit_cgroup(none, 1), ENOENT);
}

}  // namespace
}  // namespace memduel
