// Counters with two modes, in an adaptive run: equal values decide early, and must not by chance.
#include <fmt/format.h>

#include "duel.h"
#include "sections.h"
#include "stats/sample_size.h"
#include "verdict/gates.h"

namespace memduel::bench {
namespace {

DecidedRow row_at(const RowValues& session, int blocks, double alpha) {
  MeasuredRow row = measure_row({metric_info("allocation_count"), Design::restricted},
                                first_blocks(session, blocks));
  const RowLevel level{alpha, 1, row.p_value};
  return decide(std::move(row), level);
}

/// As may_end() ends a run: equal values after the first even number of blocks that suffices, else
/// the looks.
DecidedRow ended(const RowValues& session) {
  const int exact = exact_trials(1);
  DecidedRow early = row_at(session, exact + exact % 2, 0.05);
  if (early.comparison.exact) return early;
  for (const Look& look : adaptive_looks(1)) {
    DecidedRow row = row_at(session, look.blocks, look.alpha);
    if (row.comparison.verdict != Verdict::inconclusive || look.blocks == kMostBlocks) return row;
  }
  return early;
}

}  // namespace

void exact_counters(Report& report, const BenchOptions& options) {
  report.heading("Identical counters of two modes, 2% apart, in adaptive runs");
  report.columns({"share of the second mode", "called improved or regressed", "called strong"});
  std::uint64_t seed = options.seed + 800;
  for (const double rate : {0.5, 0.3, 0.1, 0.02}) {
    const MakeNoise noise = [rate](Random&) {
      return [rate](const TrialPlace&, Random& random) {
        return random.uniform() < rate ? 10200.0 : 10000.0;
      };
    };
    const auto counts =
        repeated(options.repetitions, ++seed, 2, [&](Random& random, std::vector<int>& count) {
          const DecidedRow row = ended(make_session(noise, kMostBlocks, 0, random));
          count[0] += static_cast<int>(flagged(row));
          count[1] += static_cast<int>(flagged(row) && row.comparison.tier == Tier::strong);
        });
    report.row({percent(rate), report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                percent(counts[1].share())});
  }
}

}  // namespace memduel::bench
