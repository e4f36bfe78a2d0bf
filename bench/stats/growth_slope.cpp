// Fits the growth slope of several runs: one slope a run, how sure their mean is, and the shape
// that is told apart before.

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "growth_shapes.h"
#include "stats/estimates.h"
#include "stats/growth.h"

namespace memduel {

AlignedRuns align_runs(std::span<const GrowthSeries> runs) {
  AlignedRuns all;
  std::vector<const GrowthSeries*> used;
  for (const GrowthSeries& run : runs)
    if (run.x.size() >= 3) used.push_back(&run);
  if (used.empty()) return all;
  all.x = used.front()->x;
  for (const GrowthSeries* run : used)
    std::erase_if(all.x, [&](double x) { return !std::ranges::binary_search(run->x, x); });
  for (const GrowthSeries* run : used) {
    std::vector<double> y;
    for (std::size_t i = 0; i < run->x.size(); ++i)
      if (std::ranges::binary_search(all.x, run->x[i])) y.push_back(run->y[i]);
    all.runs.push_back(std::move(y));
  }
  return all;
}

std::vector<double> mean_series(const std::vector<std::vector<double>>& runs,
                                std::optional<std::size_t> without) {
  std::vector<double> sum(runs.front().size());
  double count = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r == without) continue;
    ++count;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += runs[r][i];
  }
  for (double& value : sum) value /= count;
  return sum;
}

double OverRuns::width(double alpha) const {
  if (freedom < 1) return std::numeric_limits<double>::infinity();
  return error * boost::math::quantile(
                     boost::math::complement(boost::math::students_t(freedom), alpha / 2));
}

double OverRuns::p_below() const {
  if (freedom < 1) return 1;
  if (error == 0) return mean < 0 ? 0 : 1;
  return boost::math::cdf(boost::math::students_t(freedom), mean / error);
}

OverRuns over_runs(std::vector<double> values) {
  OverRuns over;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) over.mean += value / n;
  over.values = std::move(values);
  if (over.values.size() < 2) return over;
  double squares = 0;
  for (const double value : over.values) squares += (value - over.mean) * (value - over.mean);
  over.freedom = n - 1;
  over.error = std::sqrt(squares / (n - 1) / n);
  return over;
}

OverRuns jackknife(const std::vector<std::vector<double>>& runs,
                   const std::function<double(std::span<const double>)>& estimate) {
  const auto n = static_cast<double>(runs.size());
  const double whole = estimate(mean_series(runs));
  std::vector<double> pseudo;
  for (std::size_t r = 0; r < runs.size(); ++r)
    pseudo.push_back(n * whole - (n - 1) * estimate(mean_series(runs, r)));
  OverRuns over = over_runs(std::move(pseudo));
  for (double& value : over.values) value += whole - over.mean;
  over.mean = whole;
  return over;
}

double TrialSlopes::mean() const {
  return over_runs(values).mean;
}

double TrialSlopes::error() const {
  return over_runs(values).error;
}

double TrialSlopes::freedom() const {
  return static_cast<double>(values.size()) - 1;
}

bool TrialSlopes::has_interval() const {
  return values.size() >= kGrowthRuns;
}

Interval TrialSlopes::interval(double alpha) const {
  if (!has_interval()) return {};
  const OverRuns over = over_runs(values);
  const double width = std::max(over.width(alpha), resolution);
  return {over.mean - width, over.mean + width};
}

double SlopeDifference::p_value() const {
  if (freedom <= 0 || std::abs(value) <= resolution) return 1;
  if (error == 0) return 0;
  const boost::math::students_t t(freedom);
  return 2 * boost::math::cdf(boost::math::complement(t, std::abs(value) / error));
}

Interval SlopeDifference::interval(double alpha) const {
  if (freedom <= 0) return {};
  const boost::math::students_t t(freedom);
  const double by_trials = error * boost::math::quantile(boost::math::complement(t, alpha / 2));
  const double width = std::max(by_trials, resolution);
  return {value - width, value + width};
}

SlopeDifference slope_difference(const TrialSlopes& baseline, const TrialSlopes& candidate) {
  SlopeDifference difference;
  difference.value = candidate.mean() - baseline.mean();
  difference.resolution = baseline.resolution + candidate.resolution;
  if (!baseline.has_interval() || !candidate.has_interval()) return difference;
  const double a = baseline.error() * baseline.error();
  const double b = candidate.error() * candidate.error();
  difference.error = std::sqrt(a + b);
  difference.freedom =
      a + b > 0 ? (a + b) * (a + b) / (a * a / baseline.freedom() + b * b / candidate.freedom())
                : std::min(baseline.freedom(), candidate.freedom());
  return difference;
}

double slope_resolution(double reading_bytes, double length) {
  // Half a reading, times the sum of |x - middle| (length * n / 4) over that of its squares
  // (length^2 * n / 12).
  constexpr double kOfHalves = 3;
  return kOfHalves * (reading_bytes / 2) / length;
}

namespace {

constexpr double kBendLevel = 0.02;  ///< one-sided
constexpr double kHintLevel = 0.06;  ///< one-sided: so much of a bend, and a line is not believed
constexpr double kBendShare = 0.1;   ///< of the slope, lost by the last round: less is a line's
constexpr double kResetRuns = 0.3;   ///< share of the runs that fall back
constexpr double kStepGain = 0.5;    ///< share of the squares that a step must take from a line
constexpr double kLateShare = 0.25;  ///< of what matters, that the last half must go on with
constexpr double kTailShare = 0.1;   ///< of the rounds: what only they show is no growth yet
constexpr double kCurveShare =
    0.05;  ///< of the level: a smaller rise shows no curve, a line is believed
constexpr double kCurveLevel = 0.025;        ///< one-sided, to reject every curve that levels off
constexpr double kFreeCurveLevel = 0.005;    ///< likewise, where the warm-up's curve was chosen too
constexpr std::size_t kRoundsForJumps = 20;  ///< below, jumps must explain more than a line does
constexpr double kPiecesCount = 2;  ///< times what matters, where nothing hides the last half

/// Sum of squares around the mean of each stretch between `at`.
double squares_around_levels(std::span<const double> y, std::span<const std::size_t> at) {
  double squares = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= at.size(); ++i) {
    const std::size_t end = i < at.size() ? at[i] : y.size();
    const std::span<const double> part = y.subspan(begin, end - begin);
    double mean = 0;
    for (const double value : part) mean += value / static_cast<double>(part.size());
    for (const double value : part) squares += (value - mean) * (value - mean);
    begin = end;
  }
  return squares;
}

}  // namespace

SeenGrowth GrowthLook::look() {
  SeenGrowth seen;
  if (find_resets(seen)) return seen;
  for (std::size_t r = 0; r < runs_.size(); ++r) seen.runs.push_back(r);
  find_jumps(seen);
  // Fewer rounds cannot distinguish a warm-up from a line, and no series of them is called bounded.
  if (x_.size() >= kBoundedRounds) find_warmup(seen);
  if (seen.shape != GrowthShape::warmup)
    seen.slope = jackknife(runs_, [&](auto y) { return line_slope(x_, y); });
  seen.goes_on = seen.slope.mean > 0 && goes_on(seen);
  return seen;
}

bool GrowthLook::find_resets(SeenGrowth& seen) const {
  std::vector<double> rises;
  std::vector<std::size_t> fallen;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    if (!falls_back(runs_[r])) continue;
    fallen.push_back(r);
    rises.push_back(per_round(envelope_rise(runs_[r])));
  }
  const bool all = falls_back(mean_series(runs_));
  const double share = static_cast<double>(rises.size()) / static_cast<double>(runs_.size());
  if (!all && share < kResetRuns) return false;
  if (all && rises.size() < runs_.size()) {
    rises.clear();
    fallen.clear();
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      fallen.push_back(r);
      rises.push_back(per_round(envelope_rise(runs_[r])));
    }
  }
  seen.runs = std::move(fallen);
  seen.shape = GrowthShape::resets;
  seen.slope = over_runs(rises);
  return true;
}

/// Between the middles of the halves.
double GrowthLook::per_round(double rise) const {
  return rise / (0.5 * (x_.back() - x_.front()));
}

/// In few rounds any noise cuts a line into steps: taking these out would take out growth.
std::vector<std::size_t> GrowthLook::jumps_of(const std::vector<double>& run) const {
  std::vector<std::size_t> at = jumps(run);
  if (x_.size() < kRoundsForJumps &&
      squares_around_levels(run, at) >= (1 - kStepGain) * fit_line(x_, run).squares)
    at.clear();
  return at;
}

/// Two jumps or more that most runs make in the same rounds.
bool GrowthLook::jump_together() const {
  const std::vector<double> mean = mean_series(runs_);
  std::size_t shared = 0;
  std::size_t last = 0;
  for (const std::size_t at : jumps(mean)) {
    const double height = jump_height(mean, at);
    const auto runs = std::ranges::count_if(
        runs_, [&](const auto& run) { return 2 * jump_height(run, at) >= height; });
    if (4 * static_cast<std::size_t>(runs) < 3 * runs_.size()) continue;
    ++shared;
    last = at;
  }
  return shared >= 2 && 2 * last >= x_.size();
}

void GrowthLook::find_jumps(SeenGrowth& seen) {
  std::vector<std::vector<std::size_t>> at;
  std::vector<double> counts;
  double late = 0;
  std::vector<double> last_rounds;
  for (const auto& run : runs_) {
    at.push_back(jumps_of(run));
    counts.push_back(static_cast<double>(at.back().size()));
    if (at.back().empty()) continue;
    if (2 * at.back().back() >= run.size()) ++late;
    last_rounds.push_back(x_[at.back().back()]);
  }
  const auto n = static_cast<double>(runs_.size());
  if (jump_together() || (median(counts) >= 2 && 2 * late > n)) {
    seen.shape = GrowthShape::staircase;
    return;
  }
  const auto jumped =
      static_cast<double>(std::ranges::count_if(counts, [](double count) { return count > 0; }));
  if (jumped == 0) return;
  double heights = 0;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const double before = runs_[r].back();
    runs_[r] = without_jumps(runs_[r], at[r]);
    heights += (before - runs_[r].back()) / n;
  }
  seen.warmup = heights;
  if (2 * jumped >= n) seen.shape = GrowthShape::jumped;
  seen.jump_round = median(last_rounds);
}

OverRuns GrowthLook::bends_of_runs() const {
  std::vector<double> bends;
  for (const auto& run : runs_) bends.push_back(bend(x_, run));
  return over_runs(bends);
}

/// Whether the runs agree on a bend, and the slope that it takes is worth telling from a line's.
bool GrowthLook::bends_down(const OverRuns& bends, double level) const {
  const double lost = -2 * bends.mean * (x_.back() - x_.front());
  return bends.p_below() <= level && lost >= kBendShare * line_slope(x_, mean_series(runs_));
}

void GrowthLook::find_warmup(SeenGrowth& seen) const {
  if (seen.shape == GrowthShape::staircase) return;
  const std::vector<double> mean = mean_series(runs_);
  const bool bent = bends_down(bends_of_runs(), kBendLevel);
  const WarmupFit line = fit_line(x_, mean);
  std::optional<WarmupFit> best;
  for (const WarmupCurve curve : {WarmupCurve::exponential, WarmupCurve::bent, WarmupCurve::step}) {
    const WarmupFit fit = fit_warmup(x_, mean, curve);
    if (fit.height <= 0 || (best && fit.squares >= best->squares)) continue;
    const bool allowed =
        curve == WarmupCurve::step
            ? fit.squares < (1 - kStepGain) * line.squares && is_abrupt(mean, fit.at, fit.height)
            : bent;
    if (!allowed) continue;
    best = fit;
    seen.curve = curve;
    if (curve == WarmupCurve::step)
      seen.jump_round = x_.front() + fit.at * (x_.back() - x_.front());
  }
  if (!best) return;
  seen.shape = GrowthShape::warmup;
  seen.warmup += best->height;
  seen.slope = jackknife(runs_, [&](auto y) { return fit_warmup(x_, y, seen.curve).line; });
}

/// Whether no curve that levels off within the series explains the runs as well as one that does
/// not: what the runs have in the direction in which the two fits part is tested over the runs.
bool GrowthLook::rejects_bounded(const SeenGrowth& seen) const {
  const std::vector<double> mean = mean_series(runs_);
  const WarmupFit open =
      seen.shape == GrowthShape::warmup ? fit_warmup(x_, mean, seen.curve) : fit_line(x_, mean);
  const OverRuns bends = bends_of_runs();
  if (seen.shape == GrowthShape::line && bends_down(bends, kHintLevel)) return false;
  if (bends.p_below() >= 1 - kBendLevel) return true;
  if (open.values.back() - open.values.front() < kCurveShare * std::abs(scale_.level)) return true;
  const bool within = seen.shape != GrowthShape::warmup;
  const double level = within ? kCurveLevel : kFreeCurveLevel;
  const WarmupFit bounded = fit_bounded(x_, mean, within);
  std::vector<double> scores;
  for (const auto& run : runs_) {
    double score = 0;
    for (std::size_t i = 0; i < run.size(); ++i)
      score -= (run[i] - bounded.values[i]) * (open.values[i] - bounded.values[i]);
    scores.push_back(score);
  }
  return open.squares < bounded.squares && over_runs(scores).p_below() <= level;
}

/// Whether the last half rises by itself, and all but the last rounds do.
bool GrowthLook::goes_on(const SeenGrowth& seen) const {
  // What is taken in pieces has no noise that would hide the last half.
  const bool pieces = has_plateaus(runs_.front());
  const bool stairs = seen.shape == GrowthShape::staircase;
  if (stairs && !pieces) return true;
  const std::size_t half = x_.size() / 2;
  const std::span x(x_);
  if (x_.size() < 6) return true;
  const auto late = jackknife(runs_, [&](auto y) {
    return line_slope(x.subspan(half), std::span<const double>(y).subspan(half));
  });
  if (stairs) return late.mean * scale_.horizon >= scale_.matters;
  if (!rejects_bounded(seen)) return false;
  if (late.mean * scale_.horizon < (pieces ? kPiecesCount : kLateShare) * scale_.matters)
    return false;
  if (pieces && late.mean - late.width(2 * alpha_) <= 0) return false;
  if (seen.shape == GrowthShape::warmup) return true;
  const auto kept = static_cast<std::size_t>((1 - kTailShare) * static_cast<double>(x_.size()));
  const auto early = jackknife(runs_, [&](auto y) {
    return line_slope(x.first(kept), std::span<const double>(y).first(kept));
  });
  return early.mean - early.width(2 * alpha_) > 0;
}

}  // namespace memduel
