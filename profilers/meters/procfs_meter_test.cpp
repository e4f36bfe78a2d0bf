#include "profilers/meters/procfs_meter.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace memduel {
namespace {

constexpr std::size_t kMib = std::size_t{1} << 20;

/// A forked child that holds `mib` MiB of its own until it is destroyed.
class HoldingChild {
 public:
  explicit HoldingChild(std::size_t mib) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      void* block =
          mmap(nullptr, mib * kMib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(block, 1, mib * kMib);
      if (write(ends[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char ready = 0;
    if (read(ends[0], &ready, 1) != 1) throw std::runtime_error("read");
    close(ends[0]);
    close(ends[1]);
  }
  HoldingChild(const HoldingChild&) = delete;
  HoldingChild& operator=(const HoldingChild&) = delete;
  ~HoldingChild() { end(); }

  void end() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST(ProcfsMeter, SumsTheProcessesOfARoleAndAllRolesAsTree) {
  HoldingChild server(32);
  HoldingChild helper(16);
  HoldingChild client(8);
  ProcfsMeter meter;
  meter.add("server", server.pid());
  meter.add("server", helper.pid());
  meter.add("client-1", client.pid());
  EXPECT_TRUE(meter.sample(1000));
  EXPECT_FALSE(meter.sample(2000));
  const auto series = meter.series();
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series[0].first, "server");
  EXPECT_EQ(series[1].first, "client-1");
  EXPECT_EQ(series[2].first, "tree");
  const Series& sums = series[2].second;
  EXPECT_EQ(sums.metric, "rss_bytes");
  EXPECT_EQ(sums.t_ns, (std::vector<std::int64_t>{1000, 2000}));
  EXPECT_EQ(sums.values[0], series[0].second.values[0] + series[1].second.values[0]);
  EXPECT_GE(series[0].second.values[0], static_cast<std::int64_t>(48 * kMib));
  EXPECT_GE(series[1].second.values[0], static_cast<std::int64_t>(8 * kMib));
  EXPECT_LT(series[1].second.values[0], static_cast<std::int64_t>(32 * kMib));
}

TEST(ProcfsMeter, AProcessThatIsGivenToAnotherRoleLeavesItsFirst) {
  HoldingChild client(16);
  HoldingChild trainer(32);
  ProcfsMeter meter;
  meter.add("client-1", client.pid());
  meter.add("client-1", trainer.pid());
  meter.sample(1000);
  meter.add("trainer", trainer.pid());
  meter.sample(2000);
  const auto series = meter.series();
  const Series& of_client = series.at(0).second;
  const Series& of_trainer = series.at(1).second;
  ASSERT_EQ(of_client.values.size(), 2U);
  ASSERT_EQ(of_trainer.values.size(), 1U);
  EXPECT_EQ(of_client.values[0], of_client.values[1] + of_trainer.values[0]);
  EXPECT_EQ(series.at(2).second.values[0], series.at(2).second.values[1]);
}

TEST(ProcfsMeter, AProcessThatEndedLeavesNoSamplesAndNoZeroes) {
  HoldingChild server(4);
  ProcfsMeter meter;
  meter.add("server", server.pid());
  meter.sample(1000);
  server.end();
  meter.sample(2000);
  const auto series = meter.series();
  ASSERT_EQ(series.at(0).second.t_ns.size(), 1U);
  EXPECT_TRUE(meter.read("server").values.empty());
  EXPECT_TRUE(meter.read_costly("server").empty());
}

TEST(ProcfsMeter, ReadsCountersOfOneRole) {
  HoldingChild server(16);
  ProcfsMeter meter;
  meter.add("server", server.pid());
  const MeterReading reading = meter.read("server");
  // 16 MiB are at least 16 * 256 faults of 4 KiB, or 8 of 2 MiB with huge pages.
  EXPECT_GE(reading.counters.at("minor_faults_count"), 8);
  EXPECT_GT(reading.counters.at("cpu_seconds"), 0);
  EXPECT_LT(reading.counters.at("cpu_seconds"), 60);
  EXPECT_EQ(reading.counters.count("major_faults_count"), 1U);
  EXPECT_EQ(reading.values.count("swapped_bytes"), 1U);
  EXPECT_GE(meter.read_costly("server").at("pss_bytes"), 16.0 * kMib);
}

TEST(ProcfsMeter, HasThePeaksOfProcessesBetweenSamples) {
  HoldingChild server(16);
  HoldingChild helper(32);
  ProcfsMeter meter(ThinnedSeries::kEverySample, ProcfsMeter::ProcessPeaks::yes);
  meter.add("server", server.pid());
  meter.add("server", helper.pid());
  constexpr std::int64_t kSecond = 1'000'000'000;
  meter.sample(kSecond);
  meter.sample(2 * kSecond);
  const auto series = meter.series();
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series[2].first, "server");
  EXPECT_EQ(series[2].second.metric, "peak_largest_process_rss_bytes");
  const Series& peaks = series[2].second;
  ASSERT_EQ(peaks.t_ns, (std::vector<std::int64_t>{kSecond, kSecond})) << "they did not change";
  // What the parent had was given to both by fork, and none of it is the child's own.
  EXPECT_GE(peaks.values[0], static_cast<std::int64_t>(16 * kMib));
  EXPECT_NEAR(static_cast<double>(peaks.values[1] - peaks.values[0]), 16.0 * kMib, 1.0 * kMib);
}

TEST(ProcfsMeter, KnowsNothingOfOtherRoles) {
  ProcfsMeter meter;
  EXPECT_TRUE(meter.read("nobody").counters.empty());
  EXPECT_FALSE(meter.sample(1));
  EXPECT_TRUE(meter.series().empty());
}

}  // namespace
}  // namespace memduel
