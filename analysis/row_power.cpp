#include "analysis/row_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/power.h"

namespace memduel {
namespace {

/// 160 values for a quantile: its sampling error is about 3 percentage points of power.
constexpr int kDraws = 80;

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
  const double detectable =
      detectable_shift(*noise, blocks, design, alpha / family, kDraws, random);
  if (!std::isfinite(detectable)) return;
  // A change below the margin gets no verdict however well it shows.
  const double found = std::max(detectable, row.margin);
  out.smallest_detectable = row.scale == Scale::logarithm ? std::expm1(found) : found;
  if (out.verdict != Verdict::inconclusive) return;
  const double bounded = detectable_shift(*noise, blocks, design, 2 * alpha, kDraws, random);
  out.blocks_needed = blocks_to_settle(row.effect, row.margin, blocks, detectable, bounded);
  out.reason += out.blocks_needed
                    ? fmt::format("; about {} blocks should settle it", *out.blocks_needed)
                    : "; the effect is too close to the margin for any practical number of blocks";
}

}  // namespace memduel
