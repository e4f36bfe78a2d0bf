#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <set>
#include <thread>

#include "test_system.h"

namespace memduel {
namespace {

std::map<std::string, double> present(const MemoryInfo& info) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : info.numbers())
    if (value) numbers[name] = *value;
  return numbers;
}

TEST(MemoryInfo, HasWhatTheKernelSaysOfProcessGroupAndMachine) {
  const PreparedSystem system;
  system.write("proc/self/status",
               "VmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\nRssAnon:\t  81920 kB\n"
               "RssFile:\t  16384 kB\nRssShmem:\t  4096 kB\nVmSwap:\t  1024 kB\n");
  system.write("proc/self/smaps_rollup", "Rss:  102400 kB\nPss:  92160 kB\nPss_Anon: 1 kB\n");
  system.machine(8192 * kMebi, 2048 * kMebi);
  system.group_of_version_2(4096 * kMebi, 3072 * kMebi);
  system.write("sys/fs/cgroup/job/memory.stat", "anon 1\nfile 1342177280\nshmem 268435456\n");
  system.group_stall("some avg10=1.25 avg60=0 total=1\nfull avg10=0.75 avg60=0 total=1\n");
  ScriptedDevice device;
  device.reserved = 300 * kMebi;
  const MemoryInfo info = memory_info({.device = &device, .root = system.root()});
  std::map<std::string, double> numbers = present(info);
  std::erase_if(numbers, [](const auto& each) {
    return each.first.starts_with("heap_") || each.first.starts_with("allocator_");
  });
  const std::map<std::string, double> expected = {{"rss_bytes", 100 * kMebi},
                                                  {"peak_rss_bytes", 200 * kMebi},
                                                  {"rss_anon_bytes", 80 * kMebi},
                                                  {"rss_file_bytes", 16 * kMebi},
                                                  {"rss_shmem_bytes", 4 * kMebi},
                                                  {"swapped_bytes", kMebi},
                                                  {"pss_bytes", 90 * kMebi},
                                                  {"limit_bytes", 4096 * kMebi},
                                                  // 1280 MiB of it are files, 256 of those shared.
                                                  {"limit_used_bytes", 2048 * kMebi},
                                                  {"limit_percent", 50},
                                                  {"ram_total_bytes", 8192 * kMebi},
                                                  {"ram_available_bytes", 2048 * kMebi},
                                                  {"ram_used_bytes", 6144 * kMebi},
                                                  {"ram_percent", 75},
                                                  {"swap_total_bytes", 2 * kMebi},
                                                  {"swap_free_bytes", kMebi / 2},
                                                  {"stall_some_percent", 1.25},
                                                  {"stall_full_percent", 0.75},
                                                  {"gpu_allocated_bytes", 100 * kMebi},
                                                  {"gpu_reserved_bytes", 300 * kMebi},
                                                  {"gpu_free_bytes", 600 * kMebi},
                                                  {"gpu_total_bytes", 1000 * kMebi},
                                                  {"gpu_used_bytes", 400 * kMebi},
                                                  {"gpu_percent", 40}};
  EXPECT_EQ(numbers, expected);
  EXPECT_EQ(info.limit->group, system.group());
  EXPECT_EQ(to_string(info),
            "RSS 100.0 MiB, PSS 90.0 MiB, 50.0% of 4096.0 MiB used (its cgroup), RAM 75.0% "
            "(6144.0 MiB), GPU 40.0% (300.0 MiB reserved)");
}

TEST(MemoryInfo, IsAbsentWhereNothingTells) {
  const PreparedSystem system;
  std::map<std::string, double> numbers = present(memory_info({.root = system.root()}));
  std::erase_if(numbers, [](const auto& each) {
    return each.first.starts_with("heap_") || each.first.starts_with("allocator_");
  });
  EXPECT_TRUE(numbers.empty()) << numbers.begin()->first;
  EXPECT_EQ(to_string(memory_info({.root = system.root()})), "");
}

TEST(MemoryInfo, ADeviceThatFailsLeavesTheRest) {
  ScriptedDevice device;
  device.failure = "device lost";
  const MemoryInfo info = memory_info({.device = &device});
  EXPECT_FALSE(info.device.has_value());
  EXPECT_GT(info.rss_bytes.value_or(0), 0);
  EXPECT_GT(info.limit->bytes, 0);
}

TEST(MemoryInfo, OfThisProcessAgreesWithItself) {
  const auto before = std::chrono::system_clock::now();
  const MemoryInfo info = memory_info();
  EXPECT_GE(info.time, before);
  EXPECT_GE(*info.peak_rss_bytes, *info.rss_bytes);
  EXPECT_EQ(*info.rss_bytes, *info.rss_anon_bytes + *info.rss_file_bytes + *info.rss_shmem_bytes);
  EXPECT_LE(*info.pss_bytes, *info.peak_rss_bytes + kMebi);
  EXPECT_GT(*info.pss_bytes, 0);
  EXPECT_EQ(*info.ram_total_bytes, sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  EXPECT_FALSE(info.cpu_percent.has_value()) << "nobody asked";
  EXPECT_FALSE(memory_info({.pss = false}).pss_bytes.has_value());
}

// Of 400 ticks between the two looks 100 are idle and 100 wait for disks.
TEST(MemoryInfo, CpuIsWhatWasNotIdleBetweenTwoLooks) {
  const PreparedSystem system;
  system.write("proc/stat", "cpu  100 0 0 500 100 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    system.write("proc/stat.new", "cpu  200 20 40 600 200 10 10 20 7 7\n");
    std::filesystem::rename(system.root() / "proc/stat.new", system.root() / "proc/stat");
  });
  const auto percent =
      memory_info({.cpu_interval = std::chrono::milliseconds(400), .root = system.root()})
          .cpu_percent;
  later.join();
  EXPECT_DOUBLE_EQ(percent.value(), 50);
}

}  // namespace
}  // namespace memduel
