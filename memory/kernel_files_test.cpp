#include "memory/kernel_files.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(SizedField, TurnsKibibytesIntoBytes) {
  const char* status = "Name:\tx\nVmHWM:\t    1234 kB\nVmRSS:\t     512 kB\nVmSwap:\t       0 kB\n";
  EXPECT_EQ(sized_field(status, "VmHWM"), 1234 * 1024);
  EXPECT_EQ(sized_field(status, "VmSwap"), 0);
  EXPECT_FALSE(sized_field(status, "Vm").has_value());
  EXPECT_FALSE(sized_field(status, "Pss").has_value());
}

TEST(SizedField, ANameInsideAnotherLineDoesNotCount) {
  EXPECT_FALSE(sized_field("Name:\tPss: 12 kB\n", "Pss").has_value());
  EXPECT_EQ(sized_field("00400000-7ffc ---p 0 0 [rollup]\nRss:  9 kB\nPss:  7 kB\nPss_Anon: 1 kB\n",
                        "Pss"),
            7 * 1024);
}

TEST(SizedField, RefusesNumbersWithoutUnitAndTooLargeOnes) {
  EXPECT_FALSE(sized_field("VmHWM:\t12\n", "VmHWM").has_value());
  EXPECT_FALSE(sized_field("VmHWM:\t99999999999999999 kB\n", "VmHWM").has_value());
  EXPECT_FALSE(sized_field("VmHWM:\t-5 kB\n", "VmHWM").has_value());
}

TEST(KeyedNumber, IsAfterTheWholeKeyAtTheStartOfALine) {
  const char* events = "low 0\nnot_oom_kill 7\noom_kill_group 4\noom_kill 3\n";
  EXPECT_EQ(keyed_number(events, "oom_kill"), 3);
  EXPECT_EQ(keyed_number(events, "low"), 0);
  EXPECT_FALSE(keyed_number(events, "kill").has_value());
  EXPECT_FALSE(keyed_number("oom_kill x\n", "oom_kill").has_value());
  EXPECT_EQ(keyed_number("oom_kill 9", "oom_kill"), 9) << "cut off";
}

TEST(NumberIn, IsNoneForALimitThatIsNone) {
  EXPECT_EQ(number_in("4294967296\n"), 4294967296);
  EXPECT_FALSE(number_in("max\n").has_value());
  EXPECT_FALSE(number_in("").has_value());
}

TEST(TextOf, IsEmptyWhereThereIsNoFile) {
  EXPECT_EQ(text_of("/proc/self/no-such-file"), "");
  EXPECT_FALSE(text_of("/proc/self/status").empty());
}

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

TEST(MemoryStat, HasThePartsInBothVersions) {
  const CgroupParts first = parse_memory_stat(
      "cache 700\nrss 100\nshmem 200\nmapped_file 50\ntotal_cache 7000\ntotal_rss 1000\n"
      "total_shmem 2000\n");
  EXPECT_EQ(first.anon, 1000);
  EXPECT_EQ(first.file, 5000);
  EXPECT_EQ(first.shmem, 2000);
  EXPECT_FALSE(first.kernel);
  const CgroupParts second =
      parse_memory_stat("anon 1\nfile 9\nkernel 3\nkernel_stack 2\nshmem 4\nfile_mapped 5\n");
  EXPECT_EQ(second.anon, 1);
  EXPECT_EQ(second.file, 5);
  EXPECT_EQ(second.shmem, 4);
  EXPECT_EQ(second.kernel, 3);
  EXPECT_FALSE(parse_memory_stat("").anon);
}

TEST(ChargedBytes, AreAbsentWithoutAGroup) {
  for (const char* group : {"", "/no/such/group"}) {
    EXPECT_FALSE(charged_bytes_of(group).has_value());
    EXPECT_FALSE(charged_parts_of(group).anon.has_value());
  }
}

}  // namespace
}  // namespace memduel
