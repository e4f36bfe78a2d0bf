#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "run/plan.h"
#include "trial/supervisor.h"

namespace memduel {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<Capability> all_there() {
  std::vector<Capability> rows;
  for (const char* name : {"launcher", "subreaper", "cgroup", "oom_counter", "statm",
                           "smaps_rollup", "peak_reset", "memduel-worker", "recorder", "git"})
    rows.push_back({name, true, "there", ""});
  return rows;
}

std::vector<Capability> without(const std::string& name, const std::string& detail = "is missing") {
  std::vector<Capability> rows = all_there();
  for (Capability& row : rows)
    if (row.name == name) row = {name, false, detail, "get it"};
  return rows;
}

const nlohmann::json kQuiet = {
    {"cpu", "Sample CPU"}, {"cores", 4}, {"memory_bytes", 8589934592}, {"cpu_busy_ratio", 0.1}};

TEST(CiRunner, WithEverythingLosesNothing) {
  const RunnerReport report = describe_runner(all_there(), kQuiet);
  EXPECT_THAT(report.lost, IsEmpty());
  EXPECT_EQ(report.machine, "Sample CPU, 4 cores, 8.00 GiB");
  EXPECT_THAT(runner_text(report), HasSubstr("Everything that memduel measures"));
  EXPECT_THAT(report.gates, SizeIs(3));
}

TEST(CiRunner, NamesWhatIsLostWhyAndWhatRemains) {
  const RunnerReport report = describe_runner(without("smaps_rollup"), kQuiet);
  ASSERT_THAT(report.lost, SizeIs(1));
  EXPECT_THAT(report.lost[0].metrics, HasSubstr("peak_pss_bytes"));
  EXPECT_EQ(report.lost[0].why, "is missing; get it");
  EXPECT_THAT(report.lost[0].remains, HasSubstr("all.peak_rss_bytes"));
}

TEST(CiRunner, WithoutTheRecorderOffersNoHeapGate) {
  EXPECT_THAT(describe_runner(without("recorder"), kQuiet).gates,
              ElementsAre("all.peak_rss_no_files_bytes<=+3%|+4MiB"));
  EXPECT_THAT(describe_runner(without("statm"), kQuiet).gates,
              Not(Contains(HasSubstr("peak_rss"))));
}

TEST(CiRunner, ACgroupWithoutMemoryControllerGivesNoCgroupPeak) {
  std::vector<Capability> rows = all_there();
  rows[2].detail =
      "every trial has its own cgroup, no memory controller: peak_cgroup_bytes is absent";
  ASSERT_THAT(describe_runner(rows, kQuiet).lost, SizeIs(1));
  EXPECT_EQ(describe_runner(rows, kQuiet).lost[0].metrics, "peak_cgroup_bytes");
  EXPECT_THAT(describe_runner(without("cgroup"), kQuiet).lost, SizeIs(1));
}

TEST(CiRunner, SaysWhatTheRunnersStateMakesNoisy) {
  nlohmann::json busy = kQuiet;
  busy["cpu_busy_ratio"] = 0.87;
  busy["transparent_hugepage"] = "always";
  busy["cgroup_limit_bytes"] = 2147483648;
  const RunnerReport report = describe_runner(all_there(), busy);
  EXPECT_THAT(report.noisy, Contains(HasSubstr("other programs use 87% of 4 cores")));
  EXPECT_THAT(report.noisy, Contains(HasSubstr("huge pages")));
  EXPECT_THAT(report.machine, HasSubstr("(limited to 2.00 GiB)"));
}

TEST(CiRunner, KnowsTheNamesThatTheDoctorUses) {
  std::vector<std::string> names;
  for (const Capability& row : supervision_capabilities()) names.push_back(row.name);
  for (const Capability& row : meter_capabilities()) names.push_back(row.name);
  for (const char* name :
       {"subreaper", "cgroup", "oom_counter", "statm", "smaps_rollup", "peak_reset"})
    EXPECT_THAT(names, Contains(name));
}

TEST(CiRunner, FitsEightyColumns) {
  std::vector<Capability> rows = all_there();
  for (Capability& row : rows)
    row = {row.name, false, "it takes many words to say what is missing here and why", "get it"};
  std::istringstream lines(runner_text(describe_runner(rows, kQuiet)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace memduel
