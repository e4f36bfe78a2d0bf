// One gate: how often no change and changes of 2 to 20% are called, whatever the noise.

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "duel.h"
#include "sections.h"
#include "util/bytes.h"

namespace memduel::bench {
namespace {

using Value = double (*)(const TrialPlace&, Random&);

MakeNoise independent(Value value) {
  return [value](Random&) {
    return [value](const TrialPlace& place, Random& random) {
      return kBaseBytes * value(place, random);
    };
  };
}

/// Student's t of three degrees of freedom, in its standard deviations.
double heavy_tailed(Random& random) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const double one = random.normal();
    squares += one * one;
  }
  return random.normal() / std::sqrt(squares / 3) / std::sqrt(3.0);
}

NoiseSource autocorrelated(Random& first) {
  auto state = std::make_shared<double>(first.normal());
  return [state](const TrialPlace&, Random& random) {
    *state = 0.7 * *state + std::sqrt(1 - 0.49) * random.normal();
    return kBaseBytes * (1 + 0.04 * *state);
  };
}

/// One more arena from some trial of the session on.
NoiseSource stepping(Random& first) {
  const double from = first.uniform();
  return [from](const TrialPlace& place, Random& random) {
    const bool later = place.trial >= from * place.trials;
    return kBaseBytes * (1 + 0.01 * random.normal()) + (later ? 64 * kMiB : 0);
  };
}

std::vector<Shape> noises() {
  return {
      {"normal, 1%",
       independent([](const TrialPlace&, Random& r) { return 1 + 0.01 * r.normal(); })},
      {"normal, 4%",
       independent([](const TrialPlace&, Random& r) { return 1 + 0.04 * r.normal(); })},
      {"normal, 10%", independent([](const TrialPlace&, Random& r) {
         return std::max(0.1, 1 + 0.1 * r.normal());
       })},
      {"t with 3 degrees of freedom, 4%", independent([](const TrialPlace&, Random& r) {
         return std::max(0.1, 1 + 0.04 * heavy_tailed(r));
       })},
      {"two modes, 12% apart, 25%", independent([](const TrialPlace&, Random& r) {
         return 1 + 0.01 * r.normal() + (r.below(4) == 0 ? 0.12 : 0);
       })},
      {"drift of 10%", independent([](const TrialPlace& place, Random& r) {
         return 1 + 0.1 * place.trial / place.trials + 0.01 * r.normal();
       })},
      {"AR(1) 0.7, 4%", autocorrelated},
      {"every other trial +4 sd", independent([](const TrialPlace& place, Random& r) {
         return 1 + 0.01 * (r.normal() + (place.second ? 4 : 0));
       })},
      {"first trial +30%", independent([](const TrialPlace& place, Random& r) {
         return (1 + 0.01 * r.normal()) * (place.trial == 0 ? 1.3 : 1);
       })},
      {"first of four trials +4 sd", independent([](const TrialPlace& place, Random& r) {
         return 1 + 0.01 * (r.normal() + (place.trial % 4 == 0 ? 4 : 0));
       })},
      {"one more arena from some trial on", stepping},
  };
}

}  // namespace

void verdicts_by_noise(Report& report, const BenchOptions& options) {
  report.heading("One gate: called improved or regressed, by the true change");
  report.columns({"noise", "blocks", "0%", "95% interval covers", "+2%", "+5%", "+10%", "+20%"});
  std::uint64_t seed = options.seed + 1000;
  for (const Shape& shape : noises()) {
    for (const int blocks : {5, 6, 8, 12}) {
      const auto counts =
          repeated(options.repetitions, ++seed, 6, [&](Random& random, std::vector<int>& count) {
            const DecidedRow same = judge(make_session(shape.make, blocks, 0, random));
            count[0] += static_cast<int>(flagged(same));
            count[1] += static_cast<int>(same.measured.test->interval(0.05).contains(0));
            std::size_t next = 2;
            for (const double change : {0.02, 0.05, 0.1, 0.2}) {
              const DecidedRow row = judge(make_session(shape.make, blocks, change, random));
              count[next++] += static_cast<int>(row.comparison.verdict == Verdict::regressed);
            }
          });
      std::vector<std::string> cells = {
          shape.name, std::to_string(blocks),
          report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
          report.judged(percent(counts[1].share()), counts[1].share() >= 0.935)};
      for (std::size_t i = 2; i < counts.size(); ++i) cells.push_back(percent(counts[i].share()));
      report.row(cells);
    }
  }
}

void false_verdicts(Report& report, const BenchOptions& options) {
  report.heading("Identical arms: false verdicts and coverage");
  report.columns({"noise", "blocks", "called improved or regressed", "p <= .05",
                  "95% interval covers the truth", "called unchanged"});
  std::uint64_t seed = options.seed;
  for (const Shape& shape : shapes()) {
    for (const int blocks : {5, 6, 8, 12, 16}) {
      const auto counts =
          repeated(options.repetitions, ++seed, 4, [&](Random& random, std::vector<int>& count) {
            const DecidedRow row = judge(make_session(shape.make, blocks, 0, random));
            count[0] += static_cast<int>(flagged(row));
            count[1] += static_cast<int>(*row.comparison.p_value <= 0.05);
            count[2] += static_cast<int>(row.measured.test->interval(0.05).contains(0));
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
