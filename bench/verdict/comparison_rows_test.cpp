#include "comparison_rows.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

Comparison row(const std::string& metric, Verdict verdict) {
  Comparison c;
  c.baseline = "a";
  c.candidate = "b";
  c.role = "server";
  c.metric = metric;
  c.verdict = verdict;
  return c;
}

std::vector<std::string> told(std::vector<Comparison> rows) {
  put_in_telling_order(rows);
  std::vector<std::string> metrics;
  for (const Comparison& c : rows) metrics.push_back(c.metric);
  return metrics;
}

TEST(TellingOrder, PutsExactChangesBeforeGatesAndGatesBeforeTheRest) {
  std::vector<Comparison> rows = {
      row("peak_rss_bytes", Verdict::regressed), row("round_seconds", Verdict::inconclusive),
      row("allocation_count", Verdict::unchanged), row("allocated_bytes", Verdict::regressed)};
  rows[1].gate = true;
  rows[2].exact = rows[3].exact = true;
  EXPECT_THAT(told(rows), testing::ElementsAre("allocated_bytes", "round_seconds", "peak_rss_bytes",
                                               "allocation_count"));
}

TEST(TellingOrder, LeavesEachCandidateItsPlace) {
  std::vector<Comparison> rows = {row("peak_rss_bytes", Verdict::regressed),
                                  row("allocated_bytes", Verdict::regressed)};
  rows[0].candidate = "first";
  rows[1].exact = true;
  EXPECT_THAT(told(rows), testing::ElementsAre("peak_rss_bytes", "allocated_bytes"));
}

}  // namespace
}  // namespace memduel
