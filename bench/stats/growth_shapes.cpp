// Features of one series over rounds (jumps, falls, bends) and the curves fitted to it.

#include "growth_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "stats/estimates.h"

namespace memduel {
namespace {

constexpr size_t kShortestSide = 3;
constexpr size_t kMostSteps = 3;
constexpr double kSpreads = 5;

struct Split {
  size_t at = 0;
  double gain = 0;  ///< by how much it lowers the sum of squares around the means
};

/// The best split of y[begin, end).
std::optional<Split> best_split(std::span<const double> y, size_t begin, size_t end) {
  const std::span<const double> part = y.subspan(begin, end - begin);
  if (part.size() < 2 * kShortestSide) return std::nullopt;
  double total = 0;
  for (const double v : part) total += v;
  double left = 0;
  Split best;
  for (size_t k = 1; k + kShortestSide <= part.size(); ++k) {
    left += part[k - 1];
    if (k < kShortestSide) continue;
    const auto n_left = static_cast<double>(k);
    const auto n_right = static_cast<double>(part.size() - k);
    const double gap = left / n_left - (total - left) / n_right;
    const double gain = n_left * n_right / (n_left + n_right) * gap * gap;
    if (best.at == 0 || gain > best.gain) best = {begin + k, gain};
  }
  return best;
}

/// The best split of any stretch between `ends`.
std::optional<Split> best_split(std::span<const double> y, const std::vector<size_t>& ends) {
  std::optional<Split> best;
  for (size_t i = 1; i < ends.size(); ++i) {
    const std::optional<Split> split = best_split(y, ends[i - 1], ends[i]);
    if (split && (!best || split->gain > best->gain)) best = split;
  }
  return best;
}

/// Whether the levels between `ends` differ clearly from their neighbours.
bool all_jumps(std::span<const double> y, const std::vector<size_t>& ends) {
  std::vector<double> levels;
  std::vector<double> deviation;
  for (size_t i = 1; i < ends.size(); ++i) {
    const auto part = y.subspan(ends[i - 1], ends[i] - ends[i - 1]);
    levels.push_back(median({part.begin(), part.end()}));
    for (const double v : part) deviation.push_back(std::abs(v - levels.back()));
  }
  const double least = kSpreads * sigma_of_deviations(std::move(deviation));
  for (size_t i = 1; i < levels.size(); ++i) {
    const double height = std::abs(levels[i] - levels[i - 1]);
    if (!(height > 0) || height < least) return false;
  }
  return true;
}

}  // namespace

std::vector<size_t> find_steps(std::span<const double> y) {
  std::vector<size_t> ends = {0, y.size()};
  std::vector<size_t> steps;
  for (size_t count = 1; count <= kMostSteps; ++count) {
    const std::optional<Split> split = best_split(y, ends);
    if (!split) break;
    ends.insert(std::ranges::upper_bound(ends, split->at), split->at);
    if (all_jumps(y, ends)) steps.assign(ends.begin() + 1, ends.end() - 1);
  }
  return steps;
}

namespace {

constexpr std::size_t kBeside = 3;  ///< points beside a fall or a jump that are looked at
constexpr double kFallNoises = 4;
constexpr double kFallShare = 0.25;     ///< of the range
constexpr double kAbruptShare = 0.6;    ///< of the distance between levels, within one round
constexpr double kLongestWarmup = 4;    ///< time constant, in lengths of the series
constexpr double kBoundedWarmup = 1.3;  ///< beyond, nothing of levelling off is seen in the series
constexpr double kBoundedBend = 0.7;    ///< likewise, for a bend or a step

double mean_value(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// From the differences of neighbours, so that levels and slopes do not count.
double noise_of_series(std::span<const double> y) {
  std::vector<double> changes;
  for (std::size_t i = 1; i < y.size(); ++i) changes.push_back(std::abs(y[i] - y[i - 1]));
  return sigma_of_deviations(std::move(changes)) / std::sqrt(2.0);
}

double median_of(std::span<const double> y, std::size_t begin, std::size_t end) {
  const auto part = y.subspan(begin, end - begin);
  return median({part.begin(), part.end()});
}

/// Sums of squares and products of centred columns.
struct CentredColumns {
  CentredColumns() = default;
  CentredColumns(std::span<const double> x, std::span<const double> y, std::span<const double> g) {
    const double mx = mean_value(x);
    const double my = mean_value(y);
    const double mg = mean_value(g);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double dx = x[i] - mx;
      const double dg = g[i] - mg;
      const double dy = y[i] - my;
      xx += dx * dx;
      gg += dg * dg;
      xg += dx * dg;
      xy += dx * dy;
      gy += dg * dy;
      yy += dy * dy;
    }
  }
  double xx = 0;
  double gg = 0;
  double xg = 0;
  double xy = 0;
  double gy = 0;
  double yy = 0;
};

/// Least squares of y on 1, x and g, or without x.
WarmupFit fit_of(const CentredColumns& of, bool with_line) {
  const double det = of.xx * of.gg - of.xg * of.xg;
  WarmupFit fit;
  if (!with_line) {
    fit.height = of.gg > 0 ? of.gy / of.gg : 0;
  } else if (det <= 1e-12 * of.xx * of.gg) {
    fit.line = of.xy / of.xx;
  } else {
    fit.line = (of.xy * of.gg - of.gy * of.xg) / det;
    fit.height = (of.gy * of.xx - of.xy * of.xg) / det;
  }
  fit.squares = std::max(0.0, of.yy - fit.line * of.xy - fit.height * of.gy);
  return fit;
}

WarmupFit fit_with(std::span<const double> x, std::span<const double> y, std::span<const double> g,
                   bool with_line) {
  return fit_of(CentredColumns(x, y, g), with_line);
}

/// The columns of a bend or a step at any place, from sums up to each point: a series of 10,000
/// rounds has as many places.
class ColumnsByPlace {
 public:
  ColumnsByPlace(std::span<const double> x, std::span<const double> y, WarmupCurve curve)
      : curve_(curve), sums_(x.size() + 1) {
    const double mx = mean_value(x);
    const double my = mean_value(y);
    const double length = x.back() - x.front();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double dx = x[i] - mx;
      const double dy = y[i] - my;
      const double t = (x[i] - x.front()) / length;
      const Sums& before = sums_[i];
      sums_[i + 1] = {before.x + dx,     before.y + dy,      before.t + t,
                      before.tt + t * t, before.tx + t * dx, before.ty + t * dy};
      times_.push_back(t);
      xx_ += dx * dx;
      xy_ += dx * dy;
      yy_ += dy * dy;
    }
  }

  [[nodiscard]] CentredColumns at(double place) const {
    const auto first = std::ranges::lower_bound(times_, place) - times_.begin();
    const Sums& before = sums_[static_cast<std::size_t>(first)];
    const Sums& all = sums_.back();
    const auto n = static_cast<double>(times_.size());
    const double after = n - static_cast<double>(first);
    // Of the points before the place a bend has t / place, a step nothing; of all others both
    // have 1.
    const double scale = curve_ == WarmupCurve::bent ? 1 / place : 0;
    const double sum = before.t * scale + after;
    CentredColumns of;
    of.xx = xx_;
    of.xy = xy_;
    of.yy = yy_;
    of.gg = before.tt * scale * scale + after - sum * sum / n;
    of.xg = before.tx * scale + all.x - before.x;
    of.gy = before.ty * scale + all.y - before.y;
    return of;
  }

 private:
  struct Sums {
    double x = 0;
    double y = 0;
    double t = 0;
    double tt = 0;
    double tx = 0;
    double ty = 0;
  };

  WarmupCurve curve_;
  std::vector<Sums> sums_;  ///< of the points before each
  std::vector<double> times_;
  double xx_ = 0;
  double xy_ = 0;
  double yy_ = 0;
};

void set_values(WarmupFit& fit, std::span<const double> x, std::span<const double> y,
                std::span<const double> g) {
  const double mx = mean_value(x);
  const double my = mean_value(y);
  const double mg = mean_value(g);
  for (std::size_t i = 0; i < x.size(); ++i)
    fit.values.push_back(my + fit.line * (x[i] - mx) + fit.height * (g[i] - mg));
}

std::vector<double> warmup_values(std::span<const double> x, WarmupCurve curve, double at) {
  std::vector<double> g(x.size());
  const double begin = x.front();
  const double length = x.back() - begin;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = (x[i] - begin) / length;
    switch (curve) {
      case WarmupCurve::exponential:
        g[i] = (1 - std::exp(-t / at)) / (1 - std::exp(-1 / at));
        break;
      case WarmupCurve::bent:
        g[i] = std::min(1.0, t / at);
        break;
      case WarmupCurve::step:
        g[i] = t >= at ? 1 : 0;
        break;
    }
  }
  return g;
}

/// Time constants from a thirtieth of the series to `longest` times it; places of bends and steps.
std::vector<double> places_to_try(WarmupCurve curve, std::span<const double> x, double longest) {
  std::vector<double> at;
  if (curve == WarmupCurve::exponential) {
    for (double tau = 1.0 / 30; tau <= longest; tau *= 1.12) at.push_back(tau);
    return at;
  }
  const double length = x.back() - x.front();
  for (std::size_t i = 2; i + 2 < x.size(); ++i)
    if (x[i] - x.front() <= std::min(longest, 1.0) * length)
      at.push_back((x[i] - x.front()) / length);
  return at;
}

WarmupFit best_fit(std::span<const double> x, std::span<const double> y, WarmupCurve curve,
                   bool with_line, double longest) {
  std::optional<WarmupFit> best;
  const ColumnsByPlace columns(x, y, curve);
  const auto tried = [&](double at) {
    WarmupFit fit = curve == WarmupCurve::exponential
                        ? fit_with(x, y, warmup_values(x, curve, at), with_line)
                        : fit_of(columns.at(at), with_line);
    fit.at = at;
    const bool better = !best || fit.squares < best->squares;
    if (better) best = fit;
    return better;
  };
  for (const double at : places_to_try(curve, x, longest)) tried(at);
  if (curve == WarmupCurve::exponential) {
    // Between the neighbours on the grid.
    for (double factor = 1.06; factor > 1.0005; factor = std::sqrt(factor)) {
      const double found = best->at;
      for (const double at : {found * factor, found / factor})
        if (at <= longest) tried(at);
    }
  }
  if (!best) return {};
  set_values(*best, x, y, warmup_values(x, curve, best->at));
  return *best;
}

}  // namespace

std::vector<double> smoothed(std::span<const double> y) {
  std::vector<double> smooth(y.begin(), y.end());
  for (std::size_t i = 1; i + 1 < y.size(); ++i)
    smooth[i] = std::max(std::min(y[i - 1], y[i]), std::min(std::max(y[i - 1], y[i]), y[i + 1]));
  return smooth;
}

double line_slope(std::span<const double> x, std::span<const double> y) {
  const double mx = mean_value(x);
  const double my = mean_value(y);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xy / xx;
}

double bend(std::span<const double> x, std::span<const double> y) {
  // The parabola without what a line has of it.
  const double mx = mean_value(x);
  std::vector<double> parabola;
  for (const double v : x) parabola.push_back((v - mx) * (v - mx));
  const double slope = line_slope(x, parabola);
  const double level = mean_value(parabola);
  double squares = 0;
  double product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double rest = parabola[i] - level - slope * (x[i] - mx);
    squares += rest * rest;
    product += rest * y[i];
  }
  return squares > 0 ? product / squares : 0;
}

bool falls_back(std::span<const double> y) {
  if (y.size() < 2 * kBeside) return false;
  const std::vector<double> smooth = smoothed(y);
  const auto [low, high] = std::ranges::minmax_element(smooth);
  const double least = std::max(kFallNoises * noise_of_series(y), kFallShare * (*high - *low));
  for (std::size_t k = kBeside; k + kBeside <= smooth.size(); ++k) {
    const double fall = median_of(smooth, k - kBeside, k) - median_of(smooth, k, k + kBeside);
    if (fall > 0 && fall >= least) return true;
  }
  return false;
}

double envelope_rise(std::span<const double> y) {
  const std::vector<double> smooth = smoothed(y);
  const auto half = smooth.begin() + static_cast<std::ptrdiff_t>(smooth.size() / 2);
  const auto [low_a, high_a] = std::minmax_element(smooth.begin(), half);
  const auto [low_b, high_b] = std::minmax_element(half, smooth.end());
  return std::min(*low_b - *low_a, *high_b - *high_a);
}

std::vector<std::size_t> jumps(std::span<const double> y) {
  std::vector<std::size_t> abrupt;
  const std::vector<std::size_t> steps = find_steps(y);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : steps[i - 1];
    const std::size_t end = i + 1 < steps.size() ? steps[i + 1] : y.size();
    const std::size_t at = steps[i];
    const double distance = median_of(y, at, end) - median_of(y, begin, at);
    const std::span part = y.subspan(begin, end - begin);
    const double near = jump_height(part, at - begin);
    if (distance > 0 && near >= kAbruptShare * distance) abrupt.push_back(at);
  }
  return abrupt;
}

double jump_height(std::span<const double> y, std::size_t at) {
  return median_of(y, at, std::min(y.size(), at + kBeside)) -
         median_of(y, at < kBeside ? 0 : at - kBeside, at);
}

std::vector<double> without_jumps(std::span<const double> y, std::span<const std::size_t> at) {
  std::vector<double> level(y.begin(), y.end());
  for (const std::size_t k : at) {
    const double height = jump_height(y, k);
    for (std::size_t i = k; i < level.size(); ++i) level[i] -= height;
  }
  return level;
}

WarmupFit fit_warmup(std::span<const double> x, std::span<const double> y, WarmupCurve curve) {
  return best_fit(x, y, curve, true, kLongestWarmup);
}

WarmupFit fit_bounded(std::span<const double> x, std::span<const double> y, bool within) {
  const double longest = within ? kBoundedWarmup : kLongestWarmup;
  WarmupFit best = best_fit(x, y, WarmupCurve::exponential, false, longest);
  for (const WarmupCurve curve : {WarmupCurve::bent, WarmupCurve::step}) {
    WarmupFit fit = best_fit(x, y, curve, false, kBoundedBend);
    if (fit.squares < best.squares) best = std::move(fit);
  }
  return best;
}

bool has_plateaus(std::span<const double> y) {
  std::size_t level = 0;
  for (std::size_t i = 1; i < y.size(); ++i) level += static_cast<std::size_t>(y[i] == y[i - 1]);
  return 2 * level > y.size();
}

bool is_abrupt(std::span<const double> y, double at, double height) {
  const auto k = static_cast<std::size_t>(std::ceil(at * static_cast<double>(y.size() - 1) - 1e-9));
  if (k < 1 || k >= y.size()) return false;
  return jump_height(y, k) >= kAbruptShare * height;
}

WarmupFit fit_line(std::span<const double> x, std::span<const double> y) {
  WarmupFit fit = fit_with(x, y, std::vector<double>(x.size(), 0.0), true);
  set_values(fit, x, y, std::vector<double>(x.size(), 0.0));
  return fit;
}

}  // namespace memduel
