// The smallest detectable change that a row states, held to what it promises: 80 of 100.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/verdicts/row_power.h"
#include "bench/statistics/duel.h"
#include "bench/statistics/sections.h"

namespace memduel::bench {
namespace {

constexpr int kStatements =
    200;  ///< rows whose statement is read; their median is then put to the test

double typical_statement(const MakeNoise& noise, int blocks, unsigned long seed) {
  Random random(seed);
  std::vector<double> stated;
  for (int i = 0; i < kStatements; ++i) {
    MeasuredRow row = judge(make_session(noise, blocks, 0, random));
    add_power(row, Design::restricted, 0.05, 1, random.next());
    if (row.comparison.smallest_detectable) stated.push_back(*row.comparison.smallest_detectable);
  }
  return median(std::move(stated));
}

}  // namespace

void smallest_detectable(Report& report, const BenchOptions& options) {
  report.heading("The smallest detectable change that is stated");
  report.columns({"noise", "blocks", "stated", "a change of that size is called"});
  std::uint64_t seed = options.seed + 700;
  for (const double share : {0.002, 0.003, 0.01, 0.05}) {
    const MakeNoise noise = [share](Random&) {
      return [share](const TrialPlace&, Random& random) {
        return kBaseBytes * (1 + share * random.normal());
      };
    };
    for (const int blocks : {6, 8, 16}) {
      const double stated = typical_statement(noise, blocks, ++seed);
      const auto counts =
          repeated(options.repetitions, ++seed, 1, [&](Random& random, std::vector<int>& count) {
            const MeasuredRow row = judge(make_session(noise, blocks, stated, random));
            count[0] += static_cast<int>(row.comparison.verdict == Verdict::regressed);
          });
      const double found = counts[0].share();
      report.row({fmt::format("normal, {:g} %", 100 * share), std::to_string(blocks),
                  fmt::format("{:.2f} %", 100 * stated),
                  report.judged(percent(found), found >= 0.75 && found <= 0.85)});
    }
  }
}

}  // namespace memduel::bench
