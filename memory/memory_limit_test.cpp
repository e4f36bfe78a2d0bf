#include "memory/memory_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "test_system.h"
#include "util/file.h"

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

TEST(MemoryAlarm, SaysEachLevelOnceUntilMemoryWasGivenBack) {
  MemoryAlarm alarm(0.85, 0.9);
  EXPECT_EQ(alarm.reached(0.5), std::nullopt);
  EXPECT_EQ(alarm.reached(0.85), MemoryLevel::warning);
  EXPECT_EQ(alarm.reached(0.84), std::nullopt);
  EXPECT_EQ(alarm.reached(0.86), std::nullopt) << "it only swung";
  EXPECT_EQ(alarm.reached(0.95), MemoryLevel::critical);
  EXPECT_EQ(alarm.reached(0.99), std::nullopt);
  EXPECT_EQ(alarm.reached(0.84), std::nullopt);
  EXPECT_EQ(alarm.reached(0.91), MemoryLevel::critical) << "it had gone back below";
  EXPECT_EQ(alarm.reached(0.5), std::nullopt);
  EXPECT_EQ(alarm.reached(0.87), MemoryLevel::warning);
}

TEST(MemoryAlarm, MayBeginAtTheWorst) {
  MemoryAlarm alarm(0.85, 0.9);
  EXPECT_EQ(alarm.reached(0.97), MemoryLevel::critical);
}

using ::testing::HasSubstr;

class Pressure : public ::testing::Test {
 protected:
  PressureReading read(PressureOptions options = {}) const {
    options.root = system_.root();
    return MemoryPressure(options).read();
  }

  PreparedSystem system_;
};

TEST_F(Pressure, ThresholdsCountWhenTheyAreReached) {
  struct Case {
    std::int64_t used;
    MemoryLevel level;
  };
  // Of a limit of 100 MiB: a byte less, the threshold, a byte more.
  for (const auto& [used, level] :
       {Case{0, MemoryLevel::normal}, Case{85 * kMebi - 1, MemoryLevel::normal},
        Case{85 * kMebi, MemoryLevel::warning}, Case{85 * kMebi + 1, MemoryLevel::warning},
        Case{90 * kMebi - 1, MemoryLevel::warning}, Case{90 * kMebi, MemoryLevel::critical},
        Case{100 * kMebi, MemoryLevel::critical}}) {
    system_.group_of_version_2(100 * kMebi, used);
    EXPECT_EQ(read().level, level) << used;
  }
}

TEST_F(Pressure, IsThatOfTheOwnGroupBeforeTheMachine) {
  system_.machine(1000 * kMebi, 20 * kMebi);  // 98% used
  EXPECT_EQ(read().level, MemoryLevel::critical);
  system_.group_of_version_1(100 * kMebi, 50 * kMebi);
  const PressureReading reading = read();
  EXPECT_EQ(reading.level, MemoryLevel::normal);
  EXPECT_EQ(reading.limit->bytes, 100 * kMebi);
  EXPECT_DOUBLE_EQ(reading.used_ratio().value(), 0.5);
  EXPECT_EQ(to_string(reading), "50.0% of 100.0 MiB used (its cgroup): normal");
}

TEST_F(Pressure, IsThatOfTheMachineWhereNoGroupHasALimit) {
  system_.machine(1000 * kMebi, 130 * kMebi);
  system_.group_of_version_2(std::nullopt, 50 * kMebi);
  EXPECT_EQ(to_string(read()), "87.0% of 1000.0 MiB used (this machine): warning");
}

TEST_F(Pressure, HasOtherThresholdsOnRequest) {
  system_.group_of_version_2(100 * kMebi, 70 * kMebi);
  EXPECT_EQ(read({.warn_percent = 60, .critical_percent = 70}).level, MemoryLevel::critical);
  EXPECT_EQ(read({.warn_percent = 70, .critical_percent = 100}).level, MemoryLevel::warning);
}

TEST_F(Pressure, TasksThatStandStillAreAWarning) {
  system_.machine(1000 * kMebi, 900 * kMebi);
  system_.machine_stall(
      "some avg10=10.00 avg60=0.10 avg300=0.00 total=7\n"
      "full avg10=2.50 avg60=0.00 avg300=0.00 total=3\n");
  const PressureReading reading = read();
  EXPECT_EQ(reading.level, MemoryLevel::warning);
  EXPECT_DOUBLE_EQ(reading.stall->some_percent, 10);
  EXPECT_DOUBLE_EQ(reading.stall->full_percent, 2.5);
  EXPECT_EQ(reading.stall->group, "");
  EXPECT_EQ(to_string(reading),
            "10.0% of 1000.0 MiB used (this machine), tasks stalled on memory 10.0% of the "
            "time: warning");
  EXPECT_EQ(read({.stall_percent = 10.01}).level, MemoryLevel::normal);
  EXPECT_EQ(read({.stall_percent = std::nullopt}).level, MemoryLevel::normal);
}

TEST_F(Pressure, AGroupsOwnStallComesFirst) {
  system_.group_of_version_2(100 * kMebi, kMebi);
  system_.machine_stall("some avg10=99.00 avg60=0 avg300=0 total=1\nfull avg10=99.00 total=1\n");
  system_.group_stall("some avg10=0.50 avg60=0 avg300=0 total=1\nfull avg10=0.25 total=1\n");
  const PressureReading reading = read();
  EXPECT_EQ(reading.level, MemoryLevel::normal);
  EXPECT_DOUBLE_EQ(reading.stall->some_percent, 0.5);
  EXPECT_EQ(reading.stall->group, system_.group());
}

TEST_F(Pressure, WhereNothingCanBeReadTheLevelIsNormalAndTheTextSaysSo) {
  const PressureReading reading = read();
  EXPECT_FALSE(reading.limit.has_value());
  EXPECT_FALSE(reading.used_ratio().has_value());
  EXPECT_FALSE(reading.stall.has_value());
  EXPECT_EQ(to_string(reading), "no memory limit can be read: normal");
  system_.machine_stall("some avg10=\n");
  EXPECT_FALSE(read().stall.has_value());
}

TEST(MemoryPressure, OfThisProcessIsReadable) {
  const PressureReading reading = MemoryPressure().read();
  ASSERT_TRUE(reading.used_ratio().has_value());
  EXPECT_GT(*reading.used_ratio(), 0);
}

std::string refused_pressure(const PressureOptions& options) {
  try {
    const MemoryPressure accepted(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MemoryPressure, RefusesPercentagesWithoutAMeaning) {
  EXPECT_THAT(refused_pressure({.warn_percent = -0.5}),
              HasSubstr("warn_percent: expected a percentage from 0 to 100, found -0.5"));
  EXPECT_THAT(refused_pressure({.critical_percent = 100.5}),
              HasSubstr("critical_percent: expected a percentage from 0 to 100, found 100.5"));
  EXPECT_THAT(refused_pressure({.warn_percent = -NAN}),
              HasSubstr("warn_percent: expected a percentage from 0 to 100, found nan"));
  EXPECT_THAT(refused_pressure({.stall_percent = 101}),
              HasSubstr("stall_percent: expected a percentage from 0 to 100, found 101"));
  EXPECT_THAT(refused_pressure({.warn_percent = 90, .critical_percent = 85}),
              HasSubstr("critical_percent: expected at least warn_percent, 90, found 85"));
  EXPECT_EQ(refused_pressure({.warn_percent = 0, .critical_percent = 100}), "accepted");
}

}  // namespace
}  // namespace memduel
