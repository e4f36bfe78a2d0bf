#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/bytes.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// original against minimal of ResNet18 on dummy data, one row per metric.
Results with_rows(const std::string& role,
                  const std::vector<std::tuple<std::string, double, double>>& rows) {
  Results results;
  for (const auto& [metric, baseline, candidate] : rows) {
    Comparison c;
    c.baseline = "original";
    c.candidate = "minimal";
    c.role = role;
    c.metric = metric;
    c.gate = metric == "peak_rss_above_idle_bytes";
    c.baseline_median = baseline;
    c.candidate_median = candidate;
    results.comparisons.push_back(c);
  }
  return results;
}

Results server() {
  return with_rows("server", {{"heap_free_bytes", 207024784, 1496664},
                              {"heap_in_use_bytes", 321590920, 91528584},
                              {"peak_rss_above_idle_bytes", 825016320, 50900992},
                              {"peak_rss_file_bytes", 116516864, 114442240}});
}

std::vector<std::string> names(const std::vector<MemoryPart>& parts) {
  std::vector<std::string> found;
  for (const MemoryPart& part : parts) found.push_back(part.name);
  return found;
}

TEST(MemoryBalance, TakesLiveBlocksFromTheProfilesPeak) {
  Results results = server();
  results.difference_totals.push_back(
      {"minimal", "server", "peak", "malloc", 769230457, 91575267, 0, 9});
  const auto balances = memory_balances(results);
  ASSERT_THAT(balances, SizeIs(1));
  const MemoryBalance& balance = balances[0];
  EXPECT_EQ(balance.metric, "peak_rss_above_idle_bytes");
  EXPECT_EQ(balance.total.difference(), -774115328);
  EXPECT_THAT(names(balance.parts),
              ElementsAre("live allocations at the peak", "file-backed pages"));
  EXPECT_TRUE(balance.parts[0].profiled);
  EXPECT_EQ(balance.parts[0].difference(), -677655190);
  EXPECT_EQ(balance.rest_bytes, -774115328 + 677655190 + 2074624);
  EXPECT_THAT(names(balance.at_marks), ElementsAre("live allocations at markers",
                                                   "free (not returned to the kernel) at markers"));
}

TEST(MemoryBalance, WithoutAProfileSaysWhatMarksLeaveUntold) {
  const auto balances = memory_balances(server());
  ASSERT_THAT(balances, SizeIs(1));
  EXPECT_THAT(names(balances[0].parts),
              ElementsAre("live allocations at markers",
                          "free (not returned to the kernel) at markers", "file-backed pages"));
  EXPECT_EQ(balances[0].rest_bytes, -774115328 + 230062336 + 205528120 + 2074624);
  EXPECT_THAT(balances[0].rest, HasSubstr("not explained"));
}

TEST(MemoryBalance, OfTheLargestClientIsThatOfTheLargestOnEachSide) {
  Results results = with_rows("client_max", {{"peak_rss_above_idle_bytes", 691, 356}});
  results.job.groups = {{"client", 2}};
  results.difference_totals = {{"minimal", "client-1", "peak", "malloc", 571, 326, 0, 9},
                               {"minimal", "client-2", "peak", "malloc", 562, 332, 0, 9},
                               {"minimal", "client-2", "peak", "mapped", 999, 999, 0, 9},
                               {"minimal", "server", "peak", "malloc", 769, 91, 0, 9}};
  const MemoryPart live = memory_balances(results).at(0).parts.at(0);
  EXPECT_EQ(live.baseline_bytes, 571);
  EXPECT_EQ(live.candidate_bytes, 332);
}

TEST(MemoryBalance, OfAllProcessesHasSharedMemoryAndNoSumOfPeaks) {
  Results results = with_rows("all", {{"peak_rss_above_idle_bytes", 900 * kMiB, 500 * kMiB},
                                      {"peak_cgroup_shmem_bytes", 300 * kMiB, 100 * kMiB}});
  results.difference_totals = {{"minimal", "a", "peak", "malloc", 500, 300, 0, 9},
                               {"minimal", "b", "peak", "malloc", 500, 300, 0, 9}};
  const MemoryBalance both = memory_balances(results).at(0);
  EXPECT_THAT(names(both.parts), ElementsAre("shared memory and tmpfs"));
  EXPECT_EQ(both.rest_bytes, -200 * kMiB);
  results.difference_totals.pop_back();
  EXPECT_THAT(names(memory_balances(results).at(0).parts),
              ElementsAre("live allocations at the peak", "shared memory and tmpfs"))
      << "one process is the whole job";
}

TEST(MemoryBalance, OfAHeapGateIsThatOfTheResidentPeak) {
  Results results = with_rows(
      "server",
      {{"peak_heap_bytes", 80, 40}, {"peak_rss_bytes", 200, 150}, {"peak_rss_file_bytes", 90, 90}});
  results.comparisons[0].gate = true;
  EXPECT_EQ(memory_balances(results).at(0).metric, "peak_rss_bytes");
}

TEST(MemoryBalance, HasPartsOfTheTotalsOwnKind) {
  const auto parts_of = [](const char* metric) {
    Results results = with_rows("server", {{metric, 200, 150},
                                           {"heap_in_use_bytes", 80, 40},
                                           {"peak_rss_file_bytes", 90, 80},
                                           {"peak_cgroup_file_bytes", 70, 60}});
    results.comparisons[0].gate = true;
    return names(memory_balances(results).at(0).parts);
  };
  EXPECT_THAT(parts_of("peak_pss_bytes"), ElementsAre("live allocations at markers"));
  EXPECT_THAT(parts_of("peak_cgroup_bytes"),
              ElementsAre("live allocations at markers", "file-backed or shared pages"));
  EXPECT_THAT(parts_of("peak_rss_bytes"),
              ElementsAre("live allocations at markers", "file-backed pages"));
}

TEST(MemoryBalance, OfMemoryWithEachPageOnceHasTheCopiesOfForkedChildren) {
  Results results =
      with_rows("all", {{"peak_rss_bytes", 380, 380}, {"peak_shared_once_bytes", 225, 74}});
  for (Comparison& row : results.comparisons) row.gate = row.metric == "peak_shared_once_bytes";
  results.baseline = "original";
  results.difference_totals.push_back({"minimal", "command", "peak", "malloc", 6, 6, 0, 9});
  const auto memory = [](const char* arm, double copies) {
    ResidentMemory of;
    of.arm = arm;
    of.role = "command";
    of.owners = {{"live", "", 70}, {"inherited", "own-copy", copies}};
    return of;
  };
  results.resident = {memory("original", 152), memory("minimal", 2)};
  const auto balances = memory_balances(results);
  ASSERT_THAT(balances, SizeIs(1));
  EXPECT_EQ(balances[0].metric, "peak_shared_once_bytes");
  EXPECT_THAT(names(balances[0].parts),
              ElementsAre("live allocations at the peak", "copies made by forked children"));
  EXPECT_EQ(balances[0].parts[1].difference(), -150);
  EXPECT_EQ(balances[0].rest_bytes, -1);
}

TEST(MemoryBalance, IsAbsentWhereNoPartIsKnown) {
  EXPECT_THAT(memory_balances(with_rows("server", {{"peak_rss_above_idle_bytes", 9, 5}})),
              IsEmpty());
}

}  // namespace
}  // namespace memduel
