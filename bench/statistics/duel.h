// One simulated row through the code that judges real ones.
#pragma once

#include <functional>

#include "analysis/verdicts/comparison.h"
#include "bench/statistics/noise.h"

namespace memduel::bench {

/// peak_rss_bytes of a session, measured and not yet decided.
MeasuredRow measure(RowValues session, std::optional<double> noise_floor = std::nullopt);

/// The same, decided alone with the whole level.
MeasuredRow judge(RowValues session, std::optional<double> noise_floor = std::nullopt);

/// improved or regressed.
bool flagged(const MeasuredRow& row);

/// How often something held.
struct Count {
  int hits = 0;
  int of = 0;

  [[nodiscard]] double share() const { return static_cast<double>(hits) / of; }
  /// Whether the rate is not shown to be above `limit`: the one-sided 99.9 % lower bound (Clopper
  /// and Pearson) does not exceed it.
  [[nodiscard]] bool at_most(double limit) const;
};

/// Adds up what `once` counts over the repetitions, on all cores; the same for every number of
/// them. `once` adds 0 or 1 to each counter.
std::vector<Count> repeated(int repetitions, std::uint64_t seed, std::size_t counters,
                            const std::function<void(Random&, std::vector<int>&)>& once);

}  // namespace memduel::bench
