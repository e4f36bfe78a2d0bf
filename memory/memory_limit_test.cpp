#include "memory/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/scratch_directory.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

class MemoryLimitTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root() / name).parent_path());
    std::ofstream(root() / name) << text;
  }
  void machine_of_8_gib() const {
    write("proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 2097152 kB\n");
  }
  [[nodiscard]] fs::path root() const { return scratch_.path(); }

  ScratchDirectory scratch_{testing::TempDir(), "memory_limit"};
};

TEST_F(MemoryLimitTest, IsTheTightestGroupAboveAProcess) {
  machine_of_8_gib();
  write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/77/cgroup", "0::/jobs/night/train\n");
  write("sys/fs/cgroup/jobs/memory.max", "5368709120\n");
  write("sys/fs/cgroup/jobs/night/memory.max", "4294967296\n");
  write("sys/fs/cgroup/jobs/night/train/memory.max", "max\n");
  write("sys/fs/cgroup/jobs/night/memory.current", "3221225472\n");
  write("sys/fs/cgroup/jobs/night/memory.stat",
        "anon 2000000000\nfile 1073741824\nshmem 268435456\n");
  const auto limit = memory_limit_of(77, root());
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 4 * kGib);
  EXPECT_EQ(limit->group, (root() / "sys/fs/cgroup/jobs/night").string());
  // 3 GiB are charged, of them 1 GiB files; a quarter GiB of these is shared memory.
  EXPECT_EQ(used_bytes_of(*limit, root()), 3 * kGib - kGib + kGib / 4);
}

TEST_F(MemoryLimitTest, ReadsTheFirstVersionOfGroups) {
  machine_of_8_gib();
  write("proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write("proc/77/cgroup", "4:memory:/job\n0::/elsewhere\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "536870912\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "cache 5\ntotal_rss 9\ntotal_cache 268435456\n");
  const auto limit = memory_limit_of(77, root());
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, kGib);
  EXPECT_EQ(used_bytes_of(*limit, root()), kGib / 2 - kGib / 4);
}

TEST_F(MemoryLimitTest, IsTheMachineWhereNoGroupIsTighter) {
  machine_of_8_gib();
  write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/77/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "17179869184\n");
  const auto limit = memory_limit_of(77, root());
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 8 * kGib);
  EXPECT_EQ(limit->group, "");
  EXPECT_EQ(used_bytes_of(*limit, root()), 6 * kGib);
}

// Version 2 gives a group its memory files only where the parent turns the controller on.
TEST_F(MemoryLimitTest, IsThatOfAGroupAroundOneWithoutTheController) {
  machine_of_8_gib();
  write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/77/cgroup", "0::/job/shell/train\n");
  write("proc/self/cgroup", "0::/job/shell\n");
  write("sys/fs/cgroup/job/memory.max", "2147483648\n");
  for (const std::optional<pid_t> process : {std::optional<pid_t>(77), std::optional<pid_t>()}) {
    const auto limit = memory_limit_of(process, root());
    ASSERT_TRUE(limit.has_value());
    EXPECT_EQ(limit->bytes, 2 * kGib);
    EXPECT_EQ(limit->group, (root() / "sys/fs/cgroup/job").string());
  }
}

TEST_F(MemoryLimitTest, IsAbsentWhereNothingTells) {
  EXPECT_FALSE(memory_limit_of(77, root()).has_value());
  machine_of_8_gib();
  const auto gone = memory_limit_of(78, root());
  ASSERT_TRUE(gone.has_value());
  EXPECT_EQ(gone->bytes, 8 * kGib);
  EXPECT_FALSE(used_bytes_of({kGib, (root() / "no-such-group").string()}, root()).has_value());
}

TEST(MemoryLimit, OfThisProcessIsReadable) {
  const auto limit = memory_limit_of(getpid());
  ASSERT_TRUE(limit.has_value());
  EXPECT_GT(limit->bytes, 0);
  EXPECT_GT(used_bytes_of(*limit).value_or(0), 0);
}

}  // namespace
}  // namespace memduel
