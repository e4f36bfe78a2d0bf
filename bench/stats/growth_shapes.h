// What a series over rounds looks like: jumps and other features of one run, curves fitted to the
// mean of all; the rounds of several runs side by side with how sure a number is that every run
// gives; and the shape of all with the slope that goes on in them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stats/growth.h"

namespace memduel {

/// First indices after each jump, ascending; at most three: binary segmentation (Scott and Knott
/// 1974) by squares, as deep as every two neighbouring levels (medians of three points or more)
/// differ by at least five times the robust spread around all levels.
std::vector<size_t> find_steps(std::span<const double> y);

/// Running medians of three: a single spike leaves no trace, steps and teeth stay.
std::vector<double> smoothed(std::span<const double> y);

/// How strongly the series bends: the coefficient of the orthogonal parabola; negative bends down.
double bend(std::span<const double> x, std::span<const double> y);

/// Whether the series falls back at once by a quarter of its range or more, beyond its noise.
bool falls_back(std::span<const double> y);

/// By how much the lows and the highs of the second half lie above those of the first, the smaller
/// of the two: what a sawtooth around a level does not have.
double envelope_rise(std::span<const double> y);

/// Indices after each abrupt jump that is level on both sides; most of them upwards.
/// See find_steps().
std::vector<std::size_t> jumps(std::span<const double> y);

/// From the level just before to the level just after.
double jump_height(std::span<const double> y, std::size_t at);

/// The series without its jumps.
std::vector<double> without_jumps(std::span<const double> y, std::span<const std::size_t> at);

/// a + line * x + height * g(x), g one of the warm-up curves from 0 to 1 over the series.
struct WarmupFit {
  double line = 0;             ///< per unit of x
  double height = 0;           ///< of the warm-up within the series
  double squares = 0;          ///< that are left
  double at = 0;               ///< the curve's parameter, as a share of the series
  std::vector<double> values;  ///< of the whole fit, at every x
};

enum class WarmupCurve { exponential, bent, step };

/// The best of a curve's parameters; x ascending, four points or more.
WarmupFit fit_warmup(std::span<const double> x, std::span<const double> y, WarmupCurve curve);

/// The best curve that has no line. With `within`, of those alone that level off within the series;
/// else the exponential with any time constant.
WarmupFit fit_bounded(std::span<const double> x, std::span<const double> y, bool within);

/// Whether more than half of the values are their predecessor's: memory that is taken in pieces.
bool has_plateaus(std::span<const double> y);

/// Whether the series rises by most of `height` within a round or two of `at`, a share of it.
bool is_abrupt(std::span<const double> y, double at, double height);

/// A line alone.
WarmupFit fit_line(std::span<const double> x, std::span<const double> y);

/// All runs over the rounds that every one of them has.
struct AlignedRuns {
  std::vector<double> x;
  std::vector<std::vector<double>> runs;
};

/// Those with three rounds or more.
AlignedRuns align_runs(std::span<const GrowthSeries> runs);

std::vector<double> mean_series(const std::vector<std::vector<double>>& runs,
                                std::optional<std::size_t> without = std::nullopt);

/// A number that every run gives, and how sure its mean is.
struct OverRuns {
  double mean = 0;
  double error = 0;
  double freedom = 0;
  std::vector<double> values;  ///< of every run; `mean` is their mean

  /// Half of the interval with coverage 1 - alpha.
  [[nodiscard]] double width(double alpha) const;
  /// One-sided p of "the mean is not below zero".
  [[nodiscard]] double p_below() const;
};

OverRuns over_runs(std::vector<double> values);

/// The estimate of the mean series, with the jackknife's error. The value of a run is the estimate
/// plus what the run adds to it: of an estimate that is linear in the runs, the run's own.
OverRuns jackknife(const std::vector<std::vector<double>>& runs,
                   const std::function<double(std::span<const double>)>& estimate);

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
