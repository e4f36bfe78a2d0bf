#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "run/plan.h"
#include "support/small_experiment.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;

class Environment : public TestFolder {
 protected:
  void put(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_ / file).parent_path());
    write_file_atomically(folder_ / file, text);
  }
};

TEST_F(Environment, IsReadFromProcAndSys) {
  put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU\n");
  put("proc/meminfo", "MemTotal:       100 kB\nMemFree: 1 kB\nSwapTotal:      0 kB\n");
  put("proc/loadavg", "0.25 0.10 0.05 1/100 4242\n");
  put("proc/sys/kernel/randomize_va_space", "2\n");
  put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  put("proc/self/cgroup", "4:memory:/job\n0::/\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
  const json environment = describe_environment({{"torch", "1.13.1"}}, folder_);
  EXPECT_EQ(environment["cpu"], "Fast CPU");
  EXPECT_EQ(environment["memory_bytes"], 102400);
  EXPECT_EQ(environment["swap_bytes"], 0);
  EXPECT_EQ(environment["load"], 0.25);
  EXPECT_EQ(environment["aslr"], true);
  EXPECT_EQ(environment["transparent_hugepage"], "madvise");
  EXPECT_EQ(environment["cgroup_limit_bytes"], 2147483648);
  EXPECT_EQ(environment["torch"], "1.13.1");
  EXPECT_EQ(environment["memduel"], "0.1.0");
}

TEST_F(Environment, SaysHowBusyTheMachineIsNow) {
  const double here = describe_environment(json::object(), "/").at("cpu_busy_ratio");
  EXPECT_GE(here, 0);
  EXPECT_LE(here, 1);
  put("proc/stat", "cpu  10 0 10 80 0 0 0 0 0 0\n");
  EXPECT_FALSE(describe_environment(json::object(), folder_).contains("cpu_busy_ratio"))
      << "of no time at all nothing is known";
  std::atomic<bool> enough = false;
  std::vector<std::thread> busy;
  for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core)
    busy.emplace_back([&] {
      while (!enough) continue;
    });
  const double full = describe_environment(json::object(), "/").at("cpu_busy_ratio");
  enough = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_GT(full, 0.8) << "a thread on each core";
}

TEST_F(Environment, TakesTheLoadAverageOfIdleCoresWithoutWatchingThem) {
  put("proc/loadavg", "0.05 0.10 0.20 1/456 1234\n");
  const double idle = describe_environment(json::object(), folder_).at("cpu_busy_ratio");
  EXPECT_GT(idle, 0);
  EXPECT_LE(idle, 0.05);
  put("proc/stat", "cpu  10 0 10 80 0 0 0 0 0 0\n");
  for (const char* busy :
       {"0.05 0.10 0.20 2/456 1234\n", "900.00 0.10 0.20 1/456 1234\n", "0.05\n"}) {
    put("proc/loadavg", busy);
    EXPECT_FALSE(describe_environment(json::object(), folder_).contains("cpu_busy_ratio")) << busy;
  }
}

TEST_F(Environment, KeepsTheSizesOfTheWorkloadsModelOutOfTheFingerprint) {
  const json model = {{"name", "mnist-cnn"}, {"parameters", 582026}, {"state_bytes", 2328104}};
  const json environment = describe_environment({{"model", model}}, folder_);
  EXPECT_EQ(environment["model"], model);
  EXPECT_EQ(environment["fingerprint"],
            describe_environment(json::object(), folder_)["fingerprint"]);
}

TEST_F(Environment, WhatCannotBeReadIsAbsent) {
  put("proc/self/cgroup", "4:memory:/job\n0::/job\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/job/memory.max", "max\n");
  const json environment = describe_environment(json::object(), folder_);
  for (const char* key :
       {"cpu", "memory_bytes", "aslr", "transparent_hugepage", "torch", "cgroup_limit_bytes"}) {
    EXPECT_FALSE(environment.contains(key)) << key;
  }
  EXPECT_TRUE(environment.contains("kernel"));
}

TEST_F(Environment, TheFingerprintFollowsWhatMovesMemoryNumbers) {
  const json one = {{"cpu", "A"}, {"cores", 2}, {"kernel", "6"}, {"load", 0.1}};
  json busier = one;
  busier["load"] = 3.0;
  json other = one;
  other["torch"] = "2.1";
  EXPECT_EQ(environment_fingerprint(one), environment_fingerprint(busier));
  EXPECT_NE(environment_fingerprint(one), environment_fingerprint(other));
  EXPECT_EQ(environment_fingerprint(one).size(), 12U);
}

}  // namespace
}  // namespace memduel
