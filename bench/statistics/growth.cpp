#include "analysis/growth.h"

#include <cmath>
#include <functional>

#include "analysis/observations.h"
#include "analysis/random.h"
#include "bench/statistics/sections.h"

namespace memduel::bench {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kBase = 200 * kMiB;
constexpr double kNoise = 0.03 * kBase;
constexpr double kMargin = 64 * kKiB;
constexpr int kRounds = 100;
constexpr int kRuns = 8;

using Series = std::function<std::vector<double>(Random&)>;

std::vector<double> independent(Random& random, double slope) {
  std::vector<double> y;
  for (int r = 1; r <= kRounds; ++r) y.push_back(kBase + slope * r + kNoise * random.normal());
  return y;
}

std::vector<double> correlated(Random& random, double slope) {
  std::vector<double> y;
  double state = random.normal();
  for (int r = 1; r <= kRounds; ++r) {
    state = 0.8 * state + 0.6 * random.normal();
    y.push_back(kBase + slope * r + kNoise * state);
  }
  return y;
}

std::vector<double> random_walk(Random& random) {
  std::vector<double> y;
  double level = kBase;
  for (int r = 1; r <= kRounds; ++r) y.push_back(level += 0.5 * kMiB * random.normal());
  return y;
}

std::vector<double> saturating(Random& random, double noise) {
  std::vector<double> y;
  for (int r = 1; r <= kRounds; ++r) {
    y.push_back(kBase + 40 * kMiB * (1 - std::exp(-r / 20.0)) + noise * random.normal());
  }
  return y;
}

std::vector<double> high_water(Random& random) {
  std::vector<double> y;
  double highest = 0;
  for (const double value : independent(random, 0)) y.push_back(highest = std::max(highest, value));
  return y;
}

/// Up to two more arenas of 64 MiB at random rounds.
std::vector<double> arena_steps(Random& random, double noise) {
  std::vector<double> y;
  const auto first = static_cast<int>(random.below(2 * kRounds));
  const auto second = static_cast<int>(random.below(2 * kRounds));
  for (int r = 1; r <= kRounds; ++r) {
    const int arenas = static_cast<int>(r > first) + static_cast<int>(r > second);
    y.push_back(kBase + 64 * kMiB * arenas + noise * random.normal());
  }
  return y;
}

std::vector<double> one_step(Random& random) {
  std::vector<double> y;
  const auto at = static_cast<int>(random.below(kRounds));
  for (int r = 1; r <= kRounds; ++r) {
    y.push_back(kBase + (r > at ? 64 * kMiB : 0) + 0.1 * kMiB * random.normal());
  }
  return y;
}

GrowthVerdict verdict_of(const Series& series, Random& random) {
  std::vector<GrowthSeries> runs;
  for (int run = 0; run < kRuns; ++run) {
    const std::vector<double> y = series(random);
    GrowthSeries kept;
    for (size_t k = growth_warmup(y.size(), 1); k < y.size(); ++k) {
      kept.x.push_back(static_cast<double>(k + 1));
      kept.y.push_back(y[k]);
    }
    runs.push_back(std::move(kept));
  }
  return judge_growth(runs, kMargin, "rss_growth_bytes_per_round").verdict;
}

void section_row(Report& report, const std::string& name, const Series& series, bool grows,
                 bool target, const BenchOptions& options, Random& random) {
  std::array<int, 5> count{};
  for (int i = 0; i < options.repetitions; ++i) {
    ++count[static_cast<size_t>(verdict_of(series, random))];
  }
  const auto share = [&](GrowthVerdict verdict) {
    return static_cast<double>(count[static_cast<size_t>(verdict)]) / options.repetitions;
  };
  const double growing = share(GrowthVerdict::growing);
  const bool met = !target || (grows ? growing >= 0.95 : growing <= 0.05);
  report.row({name, report.judged(percent(growing), met), percent(share(GrowthVerdict::flat)),
              percent(share(GrowthVerdict::stepped)), percent(share(GrowthVerdict::settling)),
              percent(share(GrowthVerdict::inconclusive))});
}

}  // namespace

void growth(Report& report, const BenchOptions& options) {
  report.heading("Growth: 8 runs of 100 rounds at 200 MiB");
  report.columns({"series", "growing", "flat", "stepped", "settling", "inconclusive"});
  Random random(options.seed + 3);
  const auto row = [&](const std::string& name, const Series& series, bool grows, bool target) {
    section_row(report, name, series, grows, target, options, random);
  };
  row(
      "planted 64 KiB per round, 3 % noise", [](Random& r) { return independent(r, kMargin); },
      true, true);
  row(
      "planted 128 KiB per round, AR(1) .8 of 3 %",
      [](Random& r) { return correlated(r, 2 * kMargin); }, true, false);
  row("flat, 3 % noise", [](Random& r) { return independent(r, 0); }, false, true);
  row("flat, AR(1) .8 of 3 %", [](Random& r) { return correlated(r, 0); }, false, true);
  row("flat, random walk", random_walk, false, true);
  row(
      "saturating warm-up, 0.3 % noise", [](Random& r) { return saturating(r, 0.1 * kNoise); },
      false, true);
  row(
      "saturating warm-up, 3 % noise", [](Random& r) { return saturating(r, kNoise); }, false,
      true);
  row("high-water staircase of 3 % noise", high_water, false, true);
  row(
      "arena steps, 0.3 % noise", [](Random& r) { return arena_steps(r, 0.1 * kNoise); }, false,
      true);
  row("arena steps, 3 % noise", [](Random& r) { return arena_steps(r, kNoise); }, false, true);
  row("one step of 64 MiB", one_step, false, true);
}

}  // namespace memduel::bench
