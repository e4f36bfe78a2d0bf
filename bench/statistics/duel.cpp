#include "bench/statistics/duel.h"

#include "analysis/verdict.h"

namespace memduel::bench {

MeasuredRow measure(const Session& session) {
  RowValues values;
  values.baseline = session.a;
  values.candidate = session.b;
  return measure_row(metric_info("peak_rss_bytes"), std::move(values), Design::paired,
                     std::nullopt);
}

MeasuredRow judge(const Session& session) {
  MeasuredRow row = measure(session);
  row.comparison.p_adjusted = row.comparison.p_value;
  decide(row, 0.05, 1);
  return row;
}

bool flagged(const MeasuredRow& row) {
  return row.comparison.verdict == Verdict::improved ||
         row.comparison.verdict == Verdict::regressed;
}

}  // namespace memduel::bench
