// Growth of one run: series of its memory over rounds with what is true of each, and how they are
// judged.

#include "stats/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "duel.h"
#include "sections.h"
#include "stats/samples.h"
#include "util/bytes.h"
#include "verdict/comparison.h"

namespace memduel::bench {

/// What a run's series shares with the other runs of its session.
struct SeriesPlace {
  int rounds = 100;
  double noise_bytes = 0;
  double phase = 0;  ///< 0 … 1, of what repeats or jumps; the same in all runs when in phase
};

enum class GrowthTruth {
  bounded,
  unbounded,
  undecidable  ///< the rounds that are there look like both
};

struct GrowthShape {
  std::string name;
  GrowthTruth truth = GrowthTruth::bounded;
  bool in_phase = true;      ///< whether all runs have one phase
  bool told_inside = false;  ///< it resets or bends within the rounds, so that it must be told
  std::function<std::vector<double>(const SeriesPlace&, Random&)> series;
  bool must_be_found = false;  ///< in 90% of sessions
};

/// Every shape that is judged over so many rounds.
std::vector<GrowthShape> growth_shapes(int rounds);

/// Those that are judged for a horizon of a hundred times their rounds.
std::vector<GrowthShape> growth_shapes_for_long_jobs();

namespace {

constexpr double kBase = 200 * kMiB;

/// Level of round r without noise.
using Level = std::function<double(double round, const SeriesPlace&)>;

std::vector<double> with_noise(const SeriesPlace& place, Random& random, const Level& level) {
  std::vector<double> y;
  for (int r = 1; r <= place.rounds; ++r)
    y.push_back(kBase + level(r, place) + place.noise_bytes * random.normal());
  return y;
}

GrowthShape shape(std::string name, GrowthTruth truth, const Level& level, bool in_phase = true,
                  bool told_inside = false) {
  return {std::move(name),
          truth,
          in_phase,
          told_inside,
          [level](const SeriesPlace& place, Random& random) {
            return with_noise(place, random, level);
          },
          false};
}

GrowthShape to_be_found(GrowthShape shape) {
  shape.must_be_found = true;
  return shape;
}

/// A leak that adds less than 5% of the level by the end is small enough to be called bounded: the
/// verdict says how much it may add at most.
GrowthTruth truth_of_leak(double kib, int rounds) {
  return kib * kKiB * rounds < 0.05 * kBase ? GrowthTruth::undecidable : GrowthTruth::unbounded;
}

GrowthShape leak(double kib, int rounds) {
  return shape(fmt::format("leak of {} KiB a round", kib), truth_of_leak(kib, rounds),
               [kib](double r, const SeriesPlace&) { return kib * kKiB * r; });
}

/// `kib` a round, in chunks of `chunk_mib`.
GrowthShape chunks(double kib, double chunk_mib, bool in_phase, int rounds) {
  const double period = chunk_mib * kMiB / (kib * kKiB);
  return shape(
      fmt::format("leak of {} KiB a round in chunks of {} MiB, {}", kib, chunk_mib,
                  in_phase ? "in phase" : "out of phase"),
      truth_of_leak(kib, rounds),
      [=](double r, const SeriesPlace& place) {
        return chunk_mib * kMiB * std::floor(r / period + place.phase);
      },
      in_phase);
}

double warm(double mib, double tau, double r) {
  return mib * kMiB * (1 - std::exp(-r / tau));
}

GrowthShape saturating(double share, int rounds) {
  return shape(
      fmt::format("warm-up of 40 MiB, time constant {} of the run", share),
      share > 1 ? GrowthTruth::undecidable : GrowthTruth::bounded,
      [=](double r, const SeriesPlace&) { return warm(40, share * rounds, r); }, true,
      share <= 1.0 / 3);
}

GrowthShape sawtooth(int period, bool in_phase, int rounds, double leak_kib) {
  // In phase the first fall comes after a whole period.
  const bool falls = period < rounds - 3;
  return shape(
      fmt::format("sawtooth of 20 MiB, period {}, {}{}", period,
                  in_phase ? "in phase" : "out of phase",
                  leak_kib > 0 ? fmt::format(", on {} KiB a round", leak_kib) : ""),
      leak_kib > 0 ? GrowthTruth::unbounded : GrowthTruth::bounded,
      [=](double r, const SeriesPlace& place) {
        const double teeth = (r - 1) / period + place.phase;
        return 20 * kMiB * (teeth - std::floor(teeth)) + leak_kib * kKiB * r;
      },
      in_phase, leak_kib == 0 && in_phase && falls);
}

std::vector<GrowthShape> unlike_lines(int rounds) {
  std::vector<GrowthShape> all;
  all.push_back({"random walk, 0.5 MiB a round", GrowthTruth::bounded, true, false,
                 [](const SeriesPlace& place, Random& random) {
                   std::vector<double> y;
                   double level = kBase;
                   for (int r = 0; r < place.rounds; ++r)
                     y.push_back(level += 0.5 * kMiB * random.normal());
                   return y;
                 }});
  all.push_back({"autocorrelated noise, 0.8", GrowthTruth::bounded, true, false,
                 [](const SeriesPlace& place, Random& random) {
                   std::vector<double> y;
                   double state = random.normal();
                   for (int r = 0; r < place.rounds; ++r) {
                     state = 0.8 * state + 0.6 * random.normal();
                     y.push_back(kBase + place.noise_bytes * state);
                   }
                   return y;
                 }});
  all.push_back({"largest of the noise so far", GrowthTruth::bounded, true, false,
                 [](const SeriesPlace& place, Random& random) {
                   std::vector<double> y;
                   double highest = 0;
                   for (int r = 0; r < place.rounds; ++r)
                     y.push_back(
                         highest = std::max(highest, kBase + place.noise_bytes * random.normal()));
                   return y;
                 }});
  all.push_back({"up to two arenas of 64 MiB", GrowthTruth::bounded, true, false,
                 [](const SeriesPlace& place, Random& random) {
                   const auto twice = static_cast<std::uint64_t>(2 * place.rounds);
                   const auto first = static_cast<double>(random.below(twice));
                   const auto second = static_cast<double>(random.below(twice));
                   return with_noise(place, random, [=](double r, const SeriesPlace&) {
                     return 64 * kMiB * (static_cast<double>(r > first) + (r > second ? 1 : 0));
                   });
                 }});
  all.push_back(shape(
      "one step of 64 MiB, out of phase", GrowthTruth::bounded,
      [](double r, const SeriesPlace& place) {
        return r > place.phase * place.rounds ? 64 * kMiB : 0;
      },
      false));
  for (const int before : {1, 2, 3, 5, 10})
    all.push_back(shape(
        fmt::format("one step of 16 MiB, {} rounds before the end", before), GrowthTruth::bounded,
        [=](double r, const SeriesPlace&) { return r > rounds - before ? 16 * kMiB : 0; }));
  all.push_back(shape(
      "up and down by 16 MiB each round", GrowthTruth::bounded,
      [](double r, const SeriesPlace&) { return static_cast<int>(r) % 2 == 0 ? 16 * kMiB : 0; }));
  all.push_back(shape(
      "up and down by 16 MiB each four rounds", GrowthTruth::bounded,
      [](double r, const SeriesPlace&) { return static_cast<int>(r) % 8 < 4 ? 16 * kMiB : 0; }));
  all.push_back(shape(
      "warm-up of 40 MiB that ends after 30% of the rounds", GrowthTruth::bounded,
      [=](double r, const SeriesPlace&) { return 40 * kMiB * std::min(1.0, r / (0.3 * rounds)); },
      true, true));
  all.push_back(shape(
      "warm-up of 40 MiB that ends after half of the rounds", GrowthTruth::bounded,
      [=](double r, const SeriesPlace&) { return 40 * kMiB * std::min(1.0, r / (0.5 * rounds)); },
      true, true));
  return all;
}

}  // namespace

std::vector<GrowthShape> growth_shapes(int rounds) {
  std::vector<GrowthShape> all;
  all.push_back(
      shape("level", GrowthTruth::bounded, [](double, const SeriesPlace&) { return 0.0; }));
  for (GrowthShape& one : unlike_lines(rounds)) all.push_back(std::move(one));
  for (const double share : {0.1, 0.2, 0.4, 0.6, 1.0, 2.0})
    all.push_back(saturating(share, rounds));
  for (const int period : {17, 37, 60})
    for (const bool in_phase : {true, false}) all.push_back(sawtooth(period, in_phase, rounds, 0));
  for (const double kib : {64, 128, 256}) all.push_back(to_be_found(leak(kib, rounds)));
  for (const bool in_phase : {true, false}) {
    all.push_back(to_be_found(chunks(256, 8, in_phase, rounds)));
    all.push_back(to_be_found(chunks(64, 2, in_phase, rounds)));
    all.push_back(to_be_found(chunks(1024, 32, in_phase, rounds)));
  }
  all.push_back(to_be_found(shape(
      "leak of 128 KiB a round under a warm-up of 40 MiB", truth_of_leak(128, rounds),
      [=](double r, const SeriesPlace&) { return 128 * kKiB * r + warm(40, 0.2 * rounds, r); })));
  all.push_back(to_be_found(shape(
      "leak of 256 KiB a round from 60% of the rounds on", truth_of_leak(256 * 0.4, rounds),
      [=](double r, const SeriesPlace&) { return 256 * kKiB * std::max(0.0, r - 0.6 * rounds); })));
  all.push_back(sawtooth(17, false, rounds, 256));
  all.push_back(shape("root: 3 MiB * sqrt(round)", GrowthTruth::unbounded,
                      [](double r, const SeriesPlace&) { return 3 * kMiB * std::sqrt(r); }));
  all.push_back(shape("logarithm: 8 MiB * ln(round)",
                      rounds >= 100 ? GrowthTruth::undecidable : GrowthTruth::unbounded,
                      [](double r, const SeriesPlace&) { return 8 * kMiB * std::log(r); }));
  return all;
}

std::vector<GrowthShape> growth_shapes_for_long_jobs() {
  std::vector<GrowthShape> all;
  all.push_back(
      shape("level", GrowthTruth::bounded, [](double, const SeriesPlace&) { return 0.0; }));
  for (const double share : {0.1, 0.2}) all.push_back(saturating(share, 100));
  for (const int period : {17, 37}) all.push_back(sawtooth(period, false, 100, 0));
  for (const double kib : {8, 16, 50}) all.push_back(to_be_found(leak(kib, 1000)));
  return all;
}

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
       {GrowthVerdict::flat, GrowthVerdict::stepped, GrowthVerdict::leveling_off})
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
