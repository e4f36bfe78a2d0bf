// What a series over rounds looks like: features of one run, and curves fitted to the mean of all.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace memduel {

/// Running medians of three: a single spike leaves no trace, steps and teeth stay.
std::vector<double> smoothed(std::span<const double> y);

/// Least-squares slope of y over x; at least two distinct x.
double line_slope(std::span<const double> x, std::span<const double> y);

/// How strongly the series bends: the coefficient of the orthogonal parabola; negative bends down.
double bend(std::span<const double> x, std::span<const double> y);

/// Whether the series falls back at once by a quarter of its range or more, beyond its noise.
bool falls_back(std::span<const double> y);

/// By how much the lows and the highs of the second half lie above those of the first, the smaller
/// of the two: what a sawtooth around a level does not have.
double envelope_rise(std::span<const double> y);

/// Indices after each abrupt jump that is level on both sides; most of them upwards. See steps.h.
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

}  // namespace memduel
