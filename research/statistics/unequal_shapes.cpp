// Arms of unequal shape: a verdict is false of the mean where it says a direction that the mean
// does not have. A verdict is of the typical trial; a strong one is of the mean, too.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "duel.h"
#include "sections.h"
#include "util/bytes.h"

namespace memduel::bench {
namespace {

/// Value of one arm.
using Draw = double (*)(Random&);

double normal(Random& random, double share) {
  return 1 + share * random.normal();
}
double exponential(Random& random, double share) {
  return -share * std::log(1 - random.uniform());
}
double arena(Random& random, double rate) {
  return random.uniform() < rate ? 64 * kMiB / kBaseBytes : 0;
}

struct Pair {
  const char* name;
  Draw baseline;
  Draw candidate;
  bool improved_is_false;
  bool regressed_is_false;
};

const Pair kPairs[] = {
    {"three times the spread, same mean", [](Random& r) { return normal(r, .01); },
     [](Random& r) { return normal(r, .03); }, true, true},
    {"ten times the spread, same mean", [](Random& r) { return normal(r, .01); },
     [](Random& r) { return normal(r, .1); }, true, true},
    {"candidate never varies, same mean", [](Random& r) { return normal(r, .05); },
     [](Random&) { return 1.0; }, true, true},
    {"exponential, three times the spread, same mean",
     [](Random& r) { return 1 + exponential(r, .02); },
     [](Random& r) { return .96 + exponential(r, .06); }, true, true},
    {"exponential, three times the spread, same median: mean higher",
     [](Random& r) { return 1 + exponential(r, .02); },
     [](Random& r) { return 1 - .04 * std::numbers::ln2 + exponential(r, .06); }, true, false},
    {"low mode 2% lower, arena in 35 instead of 10%: mean 1% higher",
     [](Random& r) { return normal(r, .01) + arena(r, .1); },
     [](Random& r) { return .98 * normal(r, .01) + arena(r, .35); }, true, false},
    {"10% more in 25% against 5% more in half of the trials: same mean",
     [](Random& r) { return normal(r, .01) * (r.below(4) == 0 ? 1.1 : 1); },
     [](Random& r) { return normal(r, .01) * (r.below(2) == 0 ? 1.05 : 1); }, true, true},
    {"half-Cauchy spikes, identical",
     [](Random& r) { return 1 + .001 * std::abs(std::tan(std::numbers::pi * (r.uniform() - .5))); },
     [](Random& r) { return 1 + .001 * std::abs(std::tan(std::numbers::pi * (r.uniform() - .5))); },
     true, true},
    {"one trial in 16 half as much again, identical",
     [](Random& r) { return normal(r, .01) * (r.below(16) == 0 ? 1.5 : 1); },
     [](Random& r) { return normal(r, .01) * (r.below(16) == 0 ? 1.5 : 1); }, true, true},
};

MakeNoise noise_of(const Pair& pair) {
  return [&pair](Random&) {
    return [&pair](const TrialPlace& place, Random& random) {
      return kBaseBytes * (place.candidate ? pair.candidate(random) : pair.baseline(random));
    };
  };
}

}  // namespace

void unequal_shapes(Report& report, const BenchOptions& options) {
  report.heading("Equal means, unequal shapes");
  report.columns({"candidate against baseline", "blocks", "false and strong", "false", "improved",
                  "regressed"});
  std::uint64_t seed = options.seed + 200;
  for (const Pair& pair : kPairs) {
    for (const int blocks : {6, 8, 12, 16}) {
      const MakeNoise noise = noise_of(pair);
      const auto counts =
          repeated(options.repetitions, ++seed, 4, [&](Random& random, std::vector<int>& count) {
            const DecidedRow row = judge(make_session(noise, blocks, 0, random));
            const bool improved = row.comparison.verdict == Verdict::improved;
            const bool regressed = row.comparison.verdict == Verdict::regressed;
            const bool is_false =
                (improved && pair.improved_is_false) || (regressed && pair.regressed_is_false);
            count[0] += static_cast<int>(is_false && row.comparison.tier == Tier::strong);
            count[1] += static_cast<int>(is_false);
            count[2] += static_cast<int>(improved);
            count[3] += static_cast<int>(regressed);
          });
      report.row({pair.name, std::to_string(blocks),
                  report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                  percent(counts[1].share()), percent(counts[2].share()),
                  percent(counts[3].share())});
    }
  }
}

}  // namespace memduel::bench
