#include <fmt/format.h>

#include "analysis/tail.h"
#include "bench/statistics/duel.h"
#include "bench/statistics/sections.h"

namespace memduel::bench {

void false_verdicts(Report& report, const BenchOptions& options) {
  report.heading("Identical arms: false verdicts and coverage");
  report.columns({"noise", "blocks", "called improved or regressed", "p <= .05",
                  "95 % interval covers the truth", "called unchanged"});
  int all_false = 0;
  int all = 0;
  Random random(options.seed);
  for (const Shape shape : kShapes) {
    for (const int blocks : {5, 8, 12}) {
      int wrong = 0;
      int significant = 0;
      int covered = 0;
      int unchanged = 0;
      for (int i = 0; i < options.repetitions; ++i) {
        const MeasuredRow row = judge(make_session(shape, blocks, 0, random));
        wrong += static_cast<int>(flagged(row));
        significant += static_cast<int>(*row.comparison.p_value <= 0.05);
        covered += static_cast<int>(row.test->interval(0.05).contains(0));
        unchanged += static_cast<int>(row.comparison.verdict == Verdict::unchanged);
      }
      const int n = options.repetitions;
      all_false += wrong;
      all += n;
      const double rate = static_cast<double>(wrong) / n;
      const double coverage = static_cast<double>(covered) / n;
      report.row({shape_name(shape), std::to_string(blocks),
                  report.judged(percent(rate), clopper_pearson(wrong, n).low <= 0.05),
                  percent(static_cast<double>(significant) / n),
                  report.judged(percent(coverage), coverage >= 0.935),
                  percent(static_cast<double>(unchanged) / n)});
    }
  }
  const double pooled = static_cast<double>(all_false) / all;
  report.row({"pooled", "", report.judged(percent(pooled), pooled <= 0.05), "", "", ""});
}

}  // namespace memduel::bench
