#include "analysis/verdicts/row_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/power.h"

namespace memduel {
namespace {

constexpr int kPowerDraws = 200;

}  // namespace

void add_power(MeasuredRow& row, Design design, double alpha, int family, unsigned long seed) {
  Comparison& out = row.comparison;
  if (row.exact) out.smallest_detectable = 0;
  if (!row.test) return;
  const std::optional<Noise> noise =
      noise_of(on_scale(row.values.baseline, row.scale), on_scale(row.values.candidate, row.scale));
  if (!noise) return;
  Random random(seed);
  const auto blocks = static_cast<int>(noise->a.size());
  const EstimateScatter scatter = scatter_of(*noise, blocks, kPowerDraws, random);
  if (const auto found =
          detectable_shift(scatter, blocks, design, alpha / family, row.claim_margin))
    out.smallest_detectable = row.scale == Scale::logarithm ? std::expm1(*found) : *found;
  if (row.decision.verdict != Verdict::inconclusive || may_be_drift(row)) return;
  out.blocks_needed =
      blocks_to_settle(scatter, row.effect, row.claim_margin, blocks, design, alpha / family);
  if (out.blocks_needed) *out.blocks_needed = std::max(*out.blocks_needed, row.least_trials);
  out.reason +=
      out.blocks_needed
          ? fmt::format("; about {} blocks should settle it", *out.blocks_needed)
          : fmt::format("; {} blocks would not settle it with this noise", kMostUsefulBlocks);
}

}  // namespace memduel
