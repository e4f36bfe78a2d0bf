#include "reports/tables/repeated_rows.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

Comparison row(const std::string& role, const std::string& metric, double ratio) {
  Comparison c;
  c.baseline = "a";
  c.candidate = "b";
  c.role = role;
  c.metric = metric;
  c.ratio = ratio;
  c.verdict = ratio == 1 ? Verdict::unchanged : Verdict::regressed;
  return c;
}

TEST(RepeatedRows, OfOneProcessTheJobSpeaksUnlessTheGateAsksTheRole) {
  std::vector<Comparison> rows = {row("command", "peak_rss_bytes", 1.1),
                                  row("tree", "peak_rss_bytes", 1.1)};
  EXPECT_TRUE(repeats_the_job(rows[0], rows));
  EXPECT_FALSE(repeats_the_job(rows[1], rows));
  rows[0].gate = true;
  EXPECT_FALSE(repeats_the_job(rows[0], rows));
  EXPECT_TRUE(repeats_the_job(rows[1], rows));
  rows[1].ratio = 1.2;
  EXPECT_FALSE(repeats_the_job(rows[1], rows)) << "two processes";
}

}  // namespace
}  // namespace memduel
