#include "analysis/growth/growth.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/growth/observations.h"
#include "base/byte_units.h"
#include "bench/statistics/duel.h"
#include "bench/statistics/growth_series.h"
#include "bench/statistics/sections.h"

namespace memduel::bench {
namespace {

constexpr int kRuns = 8;

GrowthVerdict verdict_of(const GrowthShape& shape, SeriesPlace place, double horizon,
                         Random& random) {
  std::vector<GrowthSeries> runs;
  for (int run = 0; run < kRuns; ++run) {
    if (!shape.in_phase) place.phase = random.uniform();
    const std::vector<double> y = shape.series(place, random);
    GrowthSeries kept;
    for (size_t k = growth_warmup(y.size(), 1); k < y.size(); ++k) {
      kept.x.push_back(static_cast<double>(k + 1));
      kept.y.push_back(y[k]);
    }
    runs.push_back(std::move(kept));
  }
  return judge_growth(runs, {horizon, 0.05, 4096}).verdict;
}

void row(Report& report, const GrowthShape& shape, const SeriesPlace& place, double horizon,
         const BenchOptions& options, std::uint64_t seed) {
  const auto counts =
      repeated(options.repetitions, seed, 5, [&](Random& random, std::vector<int>& count) {
        ++count[static_cast<size_t>(verdict_of(shape, place, horizon, random))];
      });
  const auto of = [&](GrowthVerdict verdict) { return counts[static_cast<size_t>(verdict)]; };
  const Count growing = of(GrowthVerdict::growing);
  const Count untold = of(GrowthVerdict::inconclusive);
  Count bounded{0, options.repetitions};
  for (const GrowthVerdict verdict :
       {GrowthVerdict::flat, GrowthVerdict::stepped, GrowthVerdict::settling})
    bounded.hits += of(verdict).hits;
  const double loudest = 1 * kMiB;
  const bool quiet = place.noise_bytes < loudest;
  const bool must_be_told = shape.told_inside && quiet;
  const bool must_be_found = shape.must_be_found && quiet && place.rounds >= 100;
  const bool no_leak = shape.truth != GrowthTruth::bounded || growing.at_most(0.05);
  const bool found = !must_be_found || growing.share() >= 0.9;
  report.row({shape.name, report.judged(percent(growing.share()), no_leak && found),
              report.judged(percent(bounded.share()),
                            shape.truth != GrowthTruth::unbounded || bounded.at_most(0.05)),
              report.judged(percent(untold.share()), !must_be_told || untold.share() <= 0.2)});
}

}  // namespace

void growth(Report& report, const BenchOptions& options) {
  std::uint64_t seed = options.seed + 1000;
  for (const int rounds : {100, 40}) {
    for (const double noise : {0.1, 0.6, 6.0}) {
      report.heading(
          fmt::format("Growth: 8 runs of {} rounds at 200 MiB, noise {} MiB", rounds, noise));
      report.columns({"series", "growing", "bounded", "cannot tell"});
      for (const GrowthShape& shape : growth_shapes(rounds))
        row(report, shape, {rounds, noise * kMiB, 0}, rounds, options, ++seed);
    }
  }
  report.heading("Growth: 8 runs of 100 rounds, judged for a job of 10,000; noise 0.1 MiB");
  report.columns({"series", "growing", "bounded", "cannot tell"});
  for (const GrowthShape& shape : growth_shapes_for_long_jobs())
    row(report, shape, {100, 0.1 * kMiB, 0}, 10000, options, ++seed);
}

}  // namespace memduel::bench
