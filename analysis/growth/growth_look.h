// What the rounds of several runs look like, and the slope that goes on in them.
#pragma once

#include <vector>

#include "analysis/growth/growth_shapes.h"
#include "analysis/growth/run_series.h"

namespace memduel {

enum class GrowthShape { line, resets, jumped, staircase, warmup };

struct SeenGrowth {
  GrowthShape shape = GrowthShape::line;
  WarmupCurve curve = WarmupCurve::exponential;
  OverRuns slope;
  std::vector<std::size_t> runs;  ///< that `slope` is over
  double warmup = 0;              ///< height of the warm-up, or of the jumps
  double jump_round = 0;          ///< of the last jump, typically
  bool goes_on = true;            ///< in the last half, and not in the last rounds alone

  /// Once, or once in a while, and not in every round.
  [[nodiscard]] bool is_jump() const {
    return shape == GrowthShape::jumped ||
           (shape == GrowthShape::warmup && curve == WarmupCurve::step);
  }
};

/// What is much and what is little for these runs, in bytes.
struct GrowthScale {
  double level = 0;    ///< of a typical run
  double horizon = 0;  ///< the round that growth is carried on to
  double matters = 0;  ///< added by the horizon: growth that matters
  double flat = 0;     ///< less than that by the horizon is bounded
};

class GrowthLook {
 public:
  GrowthLook(const AlignedRuns& all, const GrowthScale& scale, double alpha)
      : x_(all.x), runs_(all.runs), scale_(scale), alpha_(alpha) {}

  SeenGrowth look();

 private:
  bool find_resets(SeenGrowth& seen) const;
  void find_jumps(SeenGrowth& seen);
  void find_warmup(SeenGrowth& seen) const;
  [[nodiscard]] double per_round(double rise) const;
  [[nodiscard]] std::vector<std::size_t> jumps_of(const std::vector<double>& run) const;
  [[nodiscard]] bool jump_together() const;
  [[nodiscard]] OverRuns bends_of_runs() const;
  [[nodiscard]] bool bends_down(const OverRuns& bends, double level) const;
  [[nodiscard]] bool rejects_bounded(const SeenGrowth& seen) const;
  [[nodiscard]] bool goes_on(const SeenGrowth& seen) const;

  std::vector<double> x_;
  std::vector<std::vector<double>> runs_;  ///< without their jumps, once these are found
  GrowthScale scale_;
  double alpha_;
};

}  // namespace memduel
