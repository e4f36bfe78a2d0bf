#include <fmt/format.h>

#include "bench/statistics/duel.h"
#include "bench/statistics/sections.h"

namespace memduel::bench {

void false_verdicts(Report& report, const BenchOptions& options) {
  report.heading("Identical arms: false verdicts and coverage");
  report.columns({"noise", "blocks", "called improved or regressed", "p <= .05",
                  "95 % interval covers the truth", "called unchanged"});
  std::uint64_t seed = options.seed;
  for (const Shape& shape : shapes()) {
    for (const int blocks : {5, 6, 8, 12, 16}) {
      const auto counts =
          repeated(options.repetitions, ++seed, 4, [&](Random& random, std::vector<int>& count) {
            const MeasuredRow row = judge(make_session(shape.make, blocks, 0, random));
            count[0] += static_cast<int>(flagged(row));
            count[1] += static_cast<int>(*row.comparison.p_value <= 0.05);
            count[2] += static_cast<int>(row.test->interval(0.05).contains(0));
            count[3] += static_cast<int>(row.comparison.verdict == Verdict::unchanged);
          });
      report.row({shape.name, std::to_string(blocks),
                  report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                  report.judged(percent(counts[1].share()), counts[1].at_most(0.05)),
                  report.judged(percent(counts[2].share()), counts[2].share() >= 0.935),
                  percent(counts[3].share())});
    }
  }
}

}  // namespace memduel::bench
