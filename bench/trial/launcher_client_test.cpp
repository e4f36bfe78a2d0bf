#include "launcher_client.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

/// What memduel reads of a report that the launcher sends.
template <class Report>
Report sent(const Report& report) {
  const auto found = read_report(fields_of(report));
  EXPECT_TRUE(found) << Report::kName;
  return std::get<Report>(*found);
}

TEST(LauncherReports, ArriveAsTheyWereSent) {
  const Spawned spawned = sent(Spawned{"server", 812, 17'000'000'042});
  EXPECT_EQ(spawned.role, "server");
  EXPECT_EQ(spawned.pid, 812);
  EXPECT_EQ(spawned.begin_ns, 17'000'000'042);
  const Unstarted unstarted = sent(Unstarted{"server", "executing the program", 2});
  EXPECT_EQ(unstarted.step, "executing the program");
  EXPECT_EQ(unstarted.error, 2);
  const Reaped reaped = sent(Reaped{812, 2 << 20});
  EXPECT_EQ(reaped.pid, 812);
  EXPECT_EQ(reaped.max_rss_bytes, 2 << 20);
  EXPECT_EQ(sent(Escaped{"812 (sleep)"}).process, "812 (sleep)");
}

TEST(LauncherReports, TellAStatusFromASignal) {
  const ExitRecord record = sent(Exited{"c", {17, 3, {}, 2.500001, 1 << 20, 7, 1}}).record;
  EXPECT_EQ(record.t_ns, 17);
  EXPECT_EQ(record.status, 3);
  EXPECT_EQ(record.signal, std::nullopt);
  EXPECT_EQ(record.cpu_seconds, 2.500001);
  EXPECT_EQ(record.max_rss_bytes, 1 << 20);
  EXPECT_EQ(record.minor_faults, 7);
  EXPECT_EQ(record.major_faults, 1);
  const ExitRecord killed = sent(Exited{"c", {0, {}, 9, 0, 0, 0, 0}}).record;
  EXPECT_EQ(killed.signal, 9);
  EXPECT_EQ(killed.status, std::nullopt);
}

TEST(LauncherReports, HaveNoPeakWithoutAGroup) {
  const LauncherEnded ended = sent(LauncherEnded{0.0015, 2, 1, {}});
  EXPECT_EQ(ended.cpu_seconds, 0.0015);
  EXPECT_EQ(ended.left_over, 2);
  EXPECT_EQ(ended.survivors, 1);
  EXPECT_EQ(ended.peak_cgroup_bytes, std::nullopt);
  EXPECT_EQ(sent(LauncherEnded{0, 0, 0, 4096}).peak_cgroup_bytes, 4096);
}

TEST(LauncherReports, AreNotReadFromOtherFields) {
  for (const std::vector<std::string>& fields : {std::vector<std::string>{},
                                                 {"ready", "", ""},
                                                 {"reaped", "812"},
                                                 {"reaped", "812", "1", "2"},
                                                 {"reaped", "812", "many"},
                                                 {"reaped", "", "1"},
                                                 {"reaped", "-", "1"}})
    EXPECT_FALSE(read_report(fields));
}

TEST(LauncherRequests, CarryListsOfWords) {
  const std::vector<std::string> fields =
      fields_of(SpawnRequest{"server", "/", {"env", "a b", ""}, {"A=1"}});
  EXPECT_EQ(fields,
            (std::vector<std::string>{"spawn", "server", "/", "3", "env", "a b", "", "1", "A=1"}));
  const auto read = std::get<SpawnRequest>(*message_in<SignalRequest, SpawnRequest>(fields));
  EXPECT_EQ(read.arguments, (std::vector<std::string>{"env", "a b", ""}));
  EXPECT_EQ(read.environment, std::vector<std::string>{"A=1"});
  EXPECT_FALSE(message_in<SpawnRequest>({"spawn", "server", "/", "9", "env"}));
}

}  // namespace
}  // namespace memduel
