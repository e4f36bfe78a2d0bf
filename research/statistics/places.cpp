// What a trial's place does to it: the second of two neighbours, the first of the session.
#include <fmt/format.h>

#include "duel.h"
#include "sections.h"
#include "util/bytes.h"

namespace memduel::bench {
namespace {

std::vector<Shape> placed_shapes() {
  std::vector<Shape> all;
  for (const double deviations : {0.0, 1.0, 2.0, 4.0, 8.0})
    all.push_back(
        {fmt::format("second neighbour higher by {} sd", deviations), position_noise(deviations)});
  all.push_back({"64 MiB arena in 75% of first, 10% of second neighbours", [](Random&) {
                   return [](const TrialPlace& place, Random& random) {
                     const double rate = place.second ? 0.1 : 0.75;
                     return kBaseBytes * (1 + 0.01 * random.normal()) +
                            (random.uniform() < rate ? 64 * kMiB : 0);
                   };
                 }});
  all.push_back({"first trial of the session +30%", [](Random&) {
                   return [](const TrialPlace& place, Random& random) {
                     return kBaseBytes * (1 + 0.01 * random.normal()) *
                            (place.trial == 0 ? 1.3 : 1);
                   };
                 }});
  all.push_back({"every other trial higher by 4 sd, by a job beside it", [](Random&) {
                   return [](const TrialPlace& place, Random& random) {
                     return kBaseBytes *
                            (1 + 0.01 * (random.normal() + (place.trial % 4 < 2 ? 4 : 0)));
                   };
                 }});
  return all;
}

}  // namespace

void places(Report& report, const BenchOptions& options) {
  report.heading("Identical arms: what a place does");
  report.columns(
      {"place", "blocks", "called improved or regressed", "p <= .05", "+2% called regressed"});
  std::uint64_t seed = options.seed + 100;
  for (const Shape& shape : placed_shapes()) {
    for (const int blocks : {5, 6, 8, 16}) {
      const auto counts =
          repeated(options.repetitions, ++seed, 3, [&](Random& random, std::vector<int>& count) {
            const DecidedRow row = judge(make_session(shape.make, blocks, 0, random));
            count[0] += static_cast<int>(flagged(row));
            count[1] += static_cast<int>(*row.comparison.p_value <= 0.05);
            const DecidedRow up = judge(make_session(shape.make, blocks, 0.02, random));
            count[2] += static_cast<int>(up.comparison.verdict == Verdict::regressed);
          });
      report.row({shape.name, std::to_string(blocks),
                  report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                  report.judged(percent(counts[1].share()), counts[1].at_most(0.05)),
                  percent(counts[2].share())});
    }
  }
}

}  // namespace memduel::bench
