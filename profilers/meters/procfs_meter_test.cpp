#include "meters/procfs_meter.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory/proc_files.h"

namespace memduel {
namespace {

constexpr std::size_t kMib = std::size_t{1} << 20;

/// A forked child that holds `mib` MiB of its own, or of a file, until it is destroyed.
class HoldingChild {
 public:
  explicit HoldingChild(std::size_t mib, int file = -1) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
      auto* block =
          static_cast<char*>(mmap(nullptr, mib * kMib, PROT_READ | PROT_WRITE, flags, file, 0));
      for (std::size_t at = 0; at < mib * kMib; at += 4096) block[at] = 1;
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
  EXPECT_EQ(series[2].first, "all");
  const Series& sums = series[2].second;
  EXPECT_EQ(sums.metric, "rss_bytes");
  EXPECT_EQ(sums.t_ns, (std::vector<std::int64_t>{1000, 2000}));
  EXPECT_EQ(sums.values[0], series[0].second.values[0] + series[1].second.values[0]);
  EXPECT_GE(series[0].second.values[0], static_cast<std::int64_t>(48 * kMib));
  EXPECT_GE(series[1].second.values[0], static_cast<std::int64_t>(8 * kMib));
  EXPECT_LT(series[1].second.values[0], static_cast<std::int64_t>(32 * kMib));
}

/// As after vfork(): waits for a byte, then executes a program.
int execute_when_told(void* told) {
  char byte = 0;
  if (read(*static_cast<int*>(told), &byte, 1) != 1) _exit(1);
  execl("/bin/sleep", "sleep", "60", nullptr);
  _exit(1);
}

TEST(ProcfsMeter, AChildThatHasItsParentsMemoryCountsWhenItExecutesAProgram) {
  if (!share_memory(getpid(), getpid())) GTEST_SKIP() << "the kernel does not offer kcmp here";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::vector<char> stack(kMib);
  const pid_t child =
      clone(execute_when_told, stack.data() + stack.size(), CLONE_VM | SIGCHLD, &ends[0]);
  ASSERT_GT(child, 0);
  ProcfsMeter meter(ThinnedSeries::kEverySample, ProcfsMeter::ProcessPeaks::yes);
  meter.add("server", getpid());
  meter.sample(1000);
  meter.add("server", child);
  meter.sample(2000);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  std::string command;
  while (command != "sleep\n") {
    std::ifstream file("/proc/" + std::to_string(child) + "/comm");
    command = {std::istreambuf_iterator<char>(file), {}};
  }
  meter.sample(3000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  const Series sums = meter.series_of("server");
  ASSERT_EQ(sums.values.size(), 3U);
  EXPECT_NEAR(static_cast<double>(sums.values[1]), static_cast<double>(sums.values[0]), kMib);
  EXPECT_GT(sums.values[2], sums.values[1]);
  EXPECT_LT(sums.values[2], sums.values[1] + static_cast<std::int64_t>(4 * kMib))
      << "sleep has little of its own";
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
  ASSERT_EQ(series.size(), 5U) << "of server and tree all and of files, and the peaks";
  EXPECT_EQ(series[4].first, "server");
  EXPECT_EQ(series[4].second.metric, "peak_largest_process_rss_bytes");
  const Series& peaks = series[4].second;
  ASSERT_EQ(peaks.t_ns, (std::vector<std::int64_t>{kSecond, kSecond})) << "they did not change";
  // What the parent had was given to both by fork, and none of it is the child's own.
  EXPECT_GE(peaks.values[0], static_cast<std::int64_t>(16 * kMib));
  EXPECT_NEAR(static_cast<double>(peaks.values[1] - peaks.values[0]), 16.0 * kMib, 1.0 * kMib);
}

std::int64_t last_of(const ProcfsMeter& meter, const std::string& role, const std::string& metric) {
  for (const auto& [name, series] : meter.series())
    if (name == role && series.metric == metric) return series.values.back();
  return -1;
}

TEST(ProcfsMeter, TellsPagesOfFilesFromSharedMemory) {
  constexpr std::size_t kHeld = 24;
  const int memory = memfd_create("shared", 0);
  FILE* file = tmpfile();
  for (const int descriptor : {memory, fileno(file)})
    ASSERT_EQ(ftruncate(descriptor, kHeld * kMib), 0);
  struct statfs of_file{};
  ASSERT_EQ(fstatfs(fileno(file), &of_file), 0);
  const HoldingChild shares(kHeld, memory);
  const HoldingChild maps(kHeld, fileno(file));
  ProcfsMeter meter(ThinnedSeries::kEverySample, ProcfsMeter::ProcessPeaks::yes);
  meter.add("shares", shares.pid());
  meter.add("maps", maps.pid());
  meter.sample(1'000'000'000);
  constexpr std::int64_t kLibraries = 12 * kMib;
  EXPECT_GE(last_of(meter, "shares", "rss_bytes"), std::int64_t{kHeld * kMib});
  EXPECT_LT(last_of(meter, "shares", "rss_file_bytes"), kLibraries);
  if (of_file.f_type != TMPFS_MAGIC) {
    EXPECT_GE(last_of(meter, "maps", "rss_file_bytes"), std::int64_t{kHeld * kMib});
  } else {
    EXPECT_LT(last_of(meter, "maps", "rss_file_bytes"), kLibraries) << "files there are memory";
  }
  fclose(file);
  close(memory);
}

TEST(ProcfsMeter, KnowsNothingOfOtherRoles) {
  ProcfsMeter meter;
  EXPECT_TRUE(meter.read("nobody").counters.empty());
  EXPECT_FALSE(meter.sample(1));
  EXPECT_TRUE(meter.series().empty());
}

}  // namespace
}  // namespace memduel
