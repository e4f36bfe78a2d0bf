#include <cmath>

#include "analysis/tail.h"
#include "bench/statistics/duel.h"
#include "bench/statistics/sections.h"

namespace memduel::bench {
namespace {

/// Share of sessions in which `holds` holds.
template <typename Holds>
double share(Shape shape, int blocks, double change, const BenchOptions& options, Random& random,
             Holds holds) {
  int hits = 0;
  for (int i = 0; i < options.repetitions; ++i) {
    hits += static_cast<int>(holds(judge(make_session(shape, blocks, change, random))));
  }
  return static_cast<double>(hits) / options.repetitions;
}

bool regressed(const MeasuredRow& row) {
  return row.comparison.verdict == Verdict::regressed;
}
bool improved(const MeasuredRow& row) {
  return row.comparison.verdict == Verdict::improved;
}
bool unchanged(const MeasuredRow& row) {
  return row.comparison.verdict == Verdict::unchanged;
}

double power_target(Shape shape, int blocks) {
  if (blocks != 12) return 0;
  if (shape == Shape::normal) return 0.99;
  return shape == Shape::bimodal_arena ? 0.70 : 0;
}

void power(Report& report, const BenchOptions& options, Random& random) {
  report.heading("A true change of 5 %");
  report.columns({"noise", "blocks", "+5 % called regressed", "-5 % called improved",
                  "called the wrong direction"});
  for (const Shape shape : kShapes) {
    for (const int blocks : {5, 8, 12}) {
      const double up = share(shape, blocks, 0.05, options, random, regressed);
      const double down = share(shape, blocks, 1 / 1.05 - 1, options, random, improved);
      const double wrong = share(shape, blocks, 0.05, options, random, improved);
      const double target = power_target(shape, blocks);
      report.row({shape_name(shape), std::to_string(blocks),
                  report.judged(percent(up), up >= target),
                  report.judged(percent(down), down >= target), percent(wrong)});
    }
  }
}

void equivalence(Report& report, const BenchOptions& options, Random& random) {
  report.heading("Truth just beyond the margin of 1 %");
  report.columns({"noise", "blocks", "+1 % called unchanged", "-1 % called unchanged"});
  // RSS values below 100 MiB would have the margin of 1 MiB; these sessions lie above.
  const double beyond = 0.010001;
  for (const Shape shape : kShapes) {
    for (const int blocks : {5, 8, 12}) {
      const double up = share(shape, blocks, beyond, options, random, unchanged);
      const double down = share(shape, blocks, 1 / (1 + beyond) - 1, options, random, unchanged);
      const auto met = [&](double rate) {
        const int hits = static_cast<int>(std::lround(rate * options.repetitions));
        return clopper_pearson(hits, options.repetitions).low <= 0.05;
      };
      report.row({shape_name(shape), std::to_string(blocks), report.judged(percent(up), met(up)),
                  report.judged(percent(down), met(down))});
    }
  }
}

}  // namespace

void power_and_equivalence(Report& report, const BenchOptions& options) {
  Random random(options.seed + 1);
  power(report, options, random);
  equivalence(report, options, random);
}

}  // namespace memduel::bench
