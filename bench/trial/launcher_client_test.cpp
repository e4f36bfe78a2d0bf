#include "launcher_client.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(LauncherReports, AStartedProcessHasItsNumber) {
  const auto report = read_report({"spawned", "server", "812", "17000000042"});
  ASSERT_TRUE(report);
  EXPECT_EQ(std::get<Spawned>(*report).role, "server");
  EXPECT_EQ(std::get<Spawned>(*report).pid, 812);
  EXPECT_EQ(std::get<Spawned>(*report).begin_ns, 17'000'000'042);
}

TEST(LauncherReports, AProcessThatCouldNotBeStartedHasItsStepAndError) {
  const auto report = read_report({"unstarted", "server", "executing the program", "2"});
  ASSERT_TRUE(report);
  EXPECT_EQ(std::get<Unstarted>(*report).step, "executing the program");
  EXPECT_EQ(std::get<Unstarted>(*report).error, 2);
}

TEST(LauncherReports, AnEndIsAStatusOrASignal) {
  const auto by_status =
      read_report({"exited", "c", "code", "3", "2500000", "1024", "7", "1", "17000000043"});
  ASSERT_TRUE(by_status);
  const ExitRecord& record = std::get<Exited>(*by_status).record;
  EXPECT_EQ(record.status, 3);
  EXPECT_EQ(record.signal, std::nullopt);
  EXPECT_DOUBLE_EQ(record.cpu_seconds, 2.5);
  EXPECT_EQ(record.max_rss_bytes, 1 << 20);
  EXPECT_EQ(record.minor_faults, 7);
  EXPECT_EQ(record.major_faults, 1);
  EXPECT_EQ(record.t_ns, 17'000'000'043);
  const auto by_signal = read_report({"exited", "c", "signal", "9", "0", "0", "0", "0", "0"});
  EXPECT_EQ(std::get<Exited>(*by_signal).record.signal, 9);
  EXPECT_EQ(std::get<Exited>(*by_signal).record.status, std::nullopt);
}

TEST(LauncherReports, AProcessWhoseParentWasGoneHasItsPeak) {
  const auto reaped = std::get<Reaped>(*read_report({"reaped", "812", "2048"}));
  EXPECT_EQ(reaped.pid, 812);
  EXPECT_EQ(reaped.max_rss_bytes, 2 << 20);
}

TEST(LauncherReports, AnEscapedProcessIsNamed) {
  EXPECT_EQ(std::get<Escaped>(*read_report({"escaped", "812", "sleep"})).process, "812 (sleep)");
}

TEST(LauncherReports, APeakThatNoGroupCountedIsAbsent) {
  const auto ended = std::get<LauncherEnded>(*read_report({"ended", "1500", "2", "1", "-", "-"}));
  EXPECT_DOUBLE_EQ(ended.cpu_seconds, 0.0015);
  EXPECT_EQ(ended.left_over, 2);
  EXPECT_EQ(ended.survivors, 1);
  EXPECT_EQ(ended.peak_cgroup_bytes, std::nullopt);
  const auto counted = read_report({"ended", "0", "0", "0", "4096", "0"});
  EXPECT_EQ(std::get<LauncherEnded>(*counted).peak_cgroup_bytes, 4096);
}

TEST(LauncherReports, AnotherNameIsNoReport) {
  EXPECT_FALSE(read_report({"ready", "", ""}));
}

}  // namespace
}  // namespace memduel
