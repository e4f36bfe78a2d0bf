#include "analysis/growth/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>

#include "analysis/growth/growth_shapes.h"
#include "analysis/growth/observations.h"
#include "analysis/statistics/hodges_lehmann.h"
#include "base/text.h"

namespace memduel {
namespace {

constexpr double kMatterMiB = 1048576;
constexpr double kMatterShare = 0.02;  ///< of the level, added by the horizon: growth that matters
constexpr double kFlatShare = 0.05;    ///< of the level: less than that by the horizon is bounded
constexpr double kBendLevel = 0.02;    ///< one-sided
constexpr double kHintLevel = 0.06;    ///< one-sided: so much of a bend, and a line is not believed
constexpr double kBendShare = 0.1;     ///< of the slope, lost by the last round: less is a line's
constexpr double kResetRuns = 0.3;     ///< share of the runs that fall back
constexpr double kStepGain = 0.5;      ///< share of the squares that a step must take from a line
constexpr double kLateShare = 0.25;    ///< of what matters, that the last half must go on with
constexpr double kTailShare = 0.1;     ///< of the rounds: what only they show is no growth yet
constexpr double kQuietShare = 2.0 / 3;  ///< of the rounds: a jump after that may not be the last
constexpr double kQuietFewRounds = 1.0 / 3;  ///< likewise where there are few rounds
constexpr double kCurveShare =
    0.05;  ///< of the level: a smaller rise shows no curve, a line is believed
constexpr double kCurveLevel = 0.025;      ///< one-sided, to reject every curve that levels off
constexpr double kFreeCurveLevel = 0.005;  ///< likewise, where the warm-up's curve was chosen too
constexpr double kPiecesCount = 2;    ///< times what matters, where nothing hides the last half
constexpr double kLargestFactor = 3;  ///< between the ends of an interval that may be projected

/// All runs over the rounds that every one of them has.
struct Aligned {
  std::vector<double> x;
  std::vector<std::vector<double>> runs;
};

Aligned aligned(std::span<const GrowthSeries> runs) {
  Aligned all;
  std::vector<const GrowthSeries*> used;
  for (const GrowthSeries& run : runs)
    if (run.x.size() >= 3) used.push_back(&run);
  if (used.empty()) return all;
  all.x = used.front()->x;
  for (const GrowthSeries* run : used)
    std::erase_if(all.x,
                  [&](double x) { return !std::binary_search(run->x.begin(), run->x.end(), x); });
  for (const GrowthSeries* run : used) {
    std::vector<double> y;
    for (std::size_t i = 0; i < run->x.size(); ++i)
      if (std::binary_search(all.x.begin(), all.x.end(), run->x[i])) y.push_back(run->y[i]);
    all.runs.push_back(std::move(y));
  }
  return all;
}

std::vector<double> mean_series(const std::vector<std::vector<double>>& runs,
                                std::optional<std::size_t> without = std::nullopt) {
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

/// A number that every run gives, and how sure its mean is.
struct OverRuns {
  double mean = 0;
  double error = 0;
  double freedom = 0;

  [[nodiscard]] double width(double alpha) const {
    if (freedom < 1) return std::numeric_limits<double>::infinity();
    return error * boost::math::quantile(
                       boost::math::complement(boost::math::students_t(freedom), alpha / 2));
  }
  /// One-sided p of "the mean is not below zero".
  [[nodiscard]] double p_below() const {
    if (freedom < 1) return 1;
    if (error == 0) return mean < 0 ? 0 : 1;
    return boost::math::cdf(boost::math::students_t(freedom), mean / error);
  }
};

OverRuns over_runs(const std::vector<double>& values) {
  OverRuns over;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) over.mean += value / n;
  if (values.size() < 2) return over;
  double squares = 0;
  for (const double value : values) squares += (value - over.mean) * (value - over.mean);
  over.freedom = n - 1;
  over.error = std::sqrt(squares / (n - 1) / n);
  return over;
}

using Estimate = std::function<double(std::span<const double>)>;

/// The estimate of the mean series, with the jackknife's error.
OverRuns jackknife(const std::vector<std::vector<double>>& runs, const Estimate& estimate) {
  const auto n = static_cast<double>(runs.size());
  const double whole = estimate(mean_series(runs));
  std::vector<double> pseudo;
  for (std::size_t r = 0; r < runs.size(); ++r)
    pseudo.push_back(n * whole - (n - 1) * estimate(mean_series(runs, r)));
  OverRuns over = over_runs(pseudo);
  over.mean = whole;
  return over;
}

enum class Shape { line, resets, jumped, staircase, warmup };

/// What the runs look like, and the slope that goes on in them.
struct Seen {
  Shape shape = Shape::line;
  WarmupCurve curve = WarmupCurve::exponential;
  OverRuns slope;
  double warmup = 0;      ///< height of the warm-up, or of the jumps
  double jump_round = 0;  ///< of the last jump, typically
  bool goes_on = true;    ///< in the last half, and not in the last rounds alone
};

class Judge {
 public:
  Judge(Aligned all, const GrowthQuestion& question)
      : all_(std::move(all)), question_(question), x_(all_.x), runs_(all_.runs) {
    std::vector<double> ends;
    for (const auto& run : runs_) ends.push_back(median(run));
    level_ = median(ends);
    horizon_ = std::clamp(question.horizon, x_.back(), kFarthest * x_.back());
    matters_ = std::max(kMatterShare * std::abs(level_), kMatterMiB);
    flat_ = std::max(kFlatShare * std::abs(level_), kMatterMiB);
  }

  GrowthEstimate judge() {
    const Seen seen = look();
    GrowthEstimate out;
    out.slope = seen.slope.mean;
    out.error = seen.slope.error;
    out.freedom = seen.slope.freedom;
    out.horizon = horizon_;
    out.matters = matters_ / horizon_;
    // Nothing is known better than what one reading can tell apart.
    const double least = question_.resolution / (x_.back() - x_.front());
    const double width = std::max(seen.slope.width(question_.alpha), least);
    out.interval = {*out.slope - width, *out.slope + width};
    out.level = last_level(0);
    decide(out, seen);
    return out;
  }

 private:
  Seen look() {
    Seen seen;
    if (find_resets(seen)) return seen;
    find_jumps(seen);
    if (x_.size() >= 6) find_warmup(seen);
    if (seen.shape != Shape::warmup)
      seen.slope = jackknife(runs_, [&](auto y) { return line_slope(x_, y); });
    seen.goes_on = seen.slope.mean > 0 && goes_on(seen);
    return seen;
  }

  bool find_resets(Seen& seen) const {
    std::vector<double> rises;
    for (const auto& run : runs_)
      if (falls_back(run)) rises.push_back(per_round(envelope_rise(run)));
    const bool all = falls_back(mean_series(runs_));
    const double share = static_cast<double>(rises.size()) / static_cast<double>(runs_.size());
    if (!all && share < kResetRuns) return false;
    if (all && rises.size() < runs_.size()) {
      rises.clear();
      for (const auto& run : runs_) rises.push_back(per_round(envelope_rise(run)));
    }
    seen.shape = Shape::resets;
    seen.slope = over_runs(rises);
    return true;
  }

  /// Between the middles of the halves.
  [[nodiscard]] double per_round(double rise) const {
    return rise / (0.5 * (x_.back() - x_.front()));
  }

  /// Two jumps or more that most runs make in the same rounds.
  [[nodiscard]] bool jump_together() const {
    const std::vector<double> mean = mean_series(runs_);
    std::size_t shared = 0;
    std::size_t last = 0;
    for (const std::size_t at : jumps(mean)) {
      const double height = jump_height(mean, at);
      const auto runs = std::count_if(runs_.begin(), runs_.end(), [&](const auto& run) {
        return 2 * jump_height(run, at) >= height;
      });
      if (4 * static_cast<std::size_t>(runs) < 3 * runs_.size()) continue;
      ++shared;
      last = at;
    }
    return shared >= 2 && 2 * last >= x_.size();
  }

  void find_jumps(Seen& seen) {
    std::vector<std::vector<std::size_t>> at;
    std::vector<double> counts;
    double late = 0;
    std::vector<double> last_rounds;
    for (const auto& run : runs_) {
      at.push_back(jumps(run));
      counts.push_back(static_cast<double>(at.back().size()));
      if (at.back().empty()) continue;
      if (2 * at.back().back() >= run.size()) ++late;
      last_rounds.push_back(x_[at.back().back()]);
    }
    const auto n = static_cast<double>(runs_.size());
    if (jump_together() || (median(counts) >= 2 && 2 * late > n)) {
      seen.shape = Shape::staircase;
      return;
    }
    const auto jumped = static_cast<double>(
        std::count_if(counts.begin(), counts.end(), [](double count) { return count > 0; }));
    if (jumped == 0) return;
    double heights = 0;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const double before = runs_[r].back();
      runs_[r] = without_jumps(runs_[r], at[r]);
      heights += (before - runs_[r].back()) / n;
    }
    seen.warmup = heights;
    if (2 * jumped >= n) seen.shape = Shape::jumped;
    seen.jump_round = median(last_rounds);
  }

  [[nodiscard]] OverRuns bends_of_runs() const {
    std::vector<double> bends;
    for (const auto& run : runs_) bends.push_back(bend(x_, run));
    return over_runs(bends);
  }

  /// Whether the runs agree on a bend, and the slope that it takes is worth telling from a line's.
  [[nodiscard]] bool bends_down(const OverRuns& bends, double level) const {
    const double lost = -2 * bends.mean * (x_.back() - x_.front());
    return bends.p_below() <= level && lost >= kBendShare * line_slope(x_, mean_series(runs_));
  }

  void find_warmup(Seen& seen) const {
    if (seen.shape == Shape::staircase) return;
    const std::vector<double> mean = mean_series(runs_);
    const bool bent = bends_down(bends_of_runs(), kBendLevel);
    const WarmupFit line = fit_line(x_, mean);
    std::optional<WarmupFit> best;
    for (const WarmupCurve curve :
         {WarmupCurve::exponential, WarmupCurve::bent, WarmupCurve::step}) {
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
    seen.shape = Shape::warmup;
    seen.warmup += best->height;
    seen.slope = jackknife(runs_, [&](auto y) { return fit_warmup(x_, y, seen.curve).line; });
  }

  /// Whether no curve that levels off within the series explains the runs as well as one that does
  /// not: what the runs have in the direction in which the two fits part is tested over the runs.
  [[nodiscard]] bool rejects_bounded(const Seen& seen) const {
    const std::vector<double> mean = mean_series(runs_);
    const WarmupFit open =
        seen.shape == Shape::warmup ? fit_warmup(x_, mean, seen.curve) : fit_line(x_, mean);
    const OverRuns bends = bends_of_runs();
    if (seen.shape == Shape::line && bends_down(bends, kHintLevel)) return false;
    if (bends.p_below() >= 1 - kBendLevel) return true;
    if (open.values.back() - open.values.front() < kCurveShare * std::abs(level_)) return true;
    const bool within = seen.shape != Shape::warmup;
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
  [[nodiscard]] bool goes_on(const Seen& seen) const {
    // What is taken in pieces has no noise that would hide the last half.
    const bool pieces = has_plateaus(runs_.front());
    const bool stairs = seen.shape == Shape::staircase;
    if (stairs && !pieces) return true;
    const std::size_t half = x_.size() / 2;
    const std::span x(x_);
    if (x_.size() < 6) return true;
    const auto late = jackknife(runs_, [&](auto y) {
      return line_slope(x.subspan(half), std::span<const double>(y).subspan(half));
    });
    if (stairs) return late.mean * horizon_ >= matters_;
    if (!rejects_bounded(seen)) return false;
    if (late.mean * horizon_ < (pieces ? kPiecesCount : kLateShare) * matters_) return false;
    if (pieces && late.mean - late.width(2 * question_.alpha) <= 0) return false;
    if (seen.shape == Shape::warmup) return true;
    const auto kept = static_cast<std::size_t>((1 - kTailShare) * static_cast<double>(x_.size()));
    const auto early = jackknife(runs_, [&](auto y) {
      return line_slope(x.first(kept), std::span<const double>(y).first(kept));
    });
    return early.mean - early.width(2 * question_.alpha) > 0;
  }

  /// Of the last fifth; `slope` carries it from the fifth's middle to the last round.
  [[nodiscard]] double last_level(double slope) const {
    const std::vector<double> mean = mean_series(all_.runs);
    const std::size_t tail = std::max<std::size_t>(1, mean.size() / 5);
    const double level = median({mean.end() - static_cast<std::ptrdiff_t>(tail), mean.end()});
    return level + slope * (x_.back() - x_[x_.size() - tail]) / 2;
  }

  void decide(GrowthEstimate& out, const Seen& seen) const {
    const double added = *out.slope * horizon_;
    const double most = out.interval.high * horizon_;
    const bool rises = out.interval.low > 0 && added >= matters_;
    const bool told = seen.goes_on && x_.size() >= kGrowthRounds;
    if (rises && (told || question_.killed)) {
      out.verdict = GrowthVerdict::growing;
      out.level = last_level(*out.slope);
      out.reason = growing(out, seen);
    } else if (!rises && most < flat_ && x_.size() >= kBoundedRounds && jumps_ended(seen)) {
      out.verdict = bounded(seen);
      out.reason = bounded_reason(out, seen);
    } else {
      out.rounds_needed = needed(out, rises);
      out.reason = cannot_tell(out);
    }
  }

  /// Single jumps go on or not: that takes rounds, and a last third without one.
  [[nodiscard]] bool jumps_ended(const Seen& seen) const {
    const bool jumped = seen.shape == Shape::jumped ||
                        (seen.shape == Shape::warmup && seen.curve == WarmupCurve::step);
    const double share = x_.size() >= kGrowthRounds ? kQuietShare : kQuietFewRounds;
    return !jumped || seen.warmup < matters_ || seen.jump_round <= share * x_.back();
  }

  [[nodiscard]] GrowthVerdict bounded(const Seen& seen) const {
    if (seen.shape == Shape::jumped ||
        (seen.shape == Shape::warmup && seen.curve == WarmupCurve::step))
      return GrowthVerdict::stepped;
    if (seen.shape == Shape::warmup && seen.warmup >= matters_) return GrowthVerdict::settling;
    return GrowthVerdict::flat;
  }

  [[nodiscard]] std::string range(const GrowthEstimate& out) const {
    return fmt::format("{} to {}", format_bytes(out.interval.low), format_bytes(out.interval.high));
  }

  [[nodiscard]] std::string growing(const GrowthEstimate& out, const Seen& seen) const {
    const double from = *out.level;
    const double left = horizon_ - x_.back();
    std::string text =
        fmt::format("adds {} a {} ({})", format_bytes(*out.slope), question_.unit, range(out));
    const bool sharp = out.interval.high <= kLargestFactor * out.interval.low;
    if (left > 0 && sharp)
      text += fmt::format(": {} by {} {:.0f} ({} to {})", format_bytes(from + *out.slope * left),
                          question_.unit, horizon_, format_bytes(from + out.interval.low * left),
                          format_bytes(from + out.interval.high * left));
    else
      text += fmt::format(": {} over these {:.0f} {}s", format_bytes(*out.slope * x_.back()),
                          x_.back(), question_.unit);
    if (seen.shape == Shape::staircase) text += ", in steps that go on";
    if (seen.shape == Shape::warmup) text += ", after a warm-up";
    if (seen.shape == Shape::resets) text += ", though it falls back at times";
    return text;
  }

  [[nodiscard]] std::string bounded_reason(const GrowthEstimate& out, const Seen& seen) const {
    const std::string most = fmt::format("adds at most {} by {} {:.0f}",
                                         format_bytes(std::max(0.0, out.interval.high) * horizon_),
                                         question_.unit, horizon_);
    switch (bounded(seen)) {
      case GrowthVerdict::settling:
        return fmt::format("levels off near {} after a warm-up; {}", format_bytes(*out.level),
                           most);
      case GrowthVerdict::stepped:
        return fmt::format("rises in single jumps and stays near {}; {}", format_bytes(*out.level),
                           most);
      default:
        break;
    }
    return fmt::format(
        "{} {}; {}", seen.shape == Shape::resets ? "rises and falls back, last near" : "stays near",
        format_bytes(*out.level), most);
  }

  /// The interval of a slope shrinks with the power 3/2 of the rounds.
  [[nodiscard]] std::optional<int> needed(const GrowthEstimate& out, bool rises) const {
    const double seen_rounds = x_.back();
    if (x_.size() < kGrowthRounds)
      return static_cast<int>(
          std::ceil(seen_rounds * kGrowthRounds / static_cast<double>(x_.size())));
    const double width = out.interval.high - *out.slope;
    const double room =
        rises ? matters_ / horizon_ : std::max(flat_ / horizon_ - *out.slope, *out.slope);
    double factor = room > 0 && std::isfinite(width) ? std::pow(width / room, 2.0 / 3) : 2;
    factor = std::max(factor, 1.5);
    if (factor > kFarthest) return std::nullopt;
    return static_cast<int>(std::ceil(factor * seen_rounds));
  }

  [[nodiscard]] std::string cannot_tell(const GrowthEstimate& out) const {
    std::string text = fmt::format("cannot tell yet: {} a {} so far ({})", format_bytes(*out.slope),
                                   question_.unit, range(out));
    if (out.rounds_needed)
      text += fmt::format("; {} {}s would", *out.rounds_needed, question_.unit);
    return text;
  }

  Aligned all_;
  GrowthQuestion question_;
  std::vector<double> x_;
  std::vector<std::vector<double>> runs_;
  double level_ = 0;
  double horizon_ = 0;
  double matters_ = 0;
  double flat_ = 0;
};

}  // namespace

int rounds_to_judge_growth(int warmup_rounds) {
  int rounds = static_cast<int>(kGrowthRounds);
  while (static_cast<std::size_t>(rounds) <
         growth_warmup(static_cast<std::size_t>(rounds), warmup_rounds) + kGrowthRounds)
    ++rounds;
  return rounds;
}

GrowthEstimate judge_growth(std::span<const GrowthSeries> runs, const GrowthQuestion& question) {
  Aligned all = aligned(runs);
  if (all.runs.size() >= kGrowthRuns && all.x.size() >= 3)
    return Judge(std::move(all), question).judge();
  GrowthEstimate estimate;
  if (!all.runs.empty() && all.x.size() >= 3)
    estimate.slope = line_slope(all.x, mean_series(all.runs));
  estimate.reason =
      fmt::format("cannot tell: {} of {} runs with three rounds or more after warm-up",
                  all.runs.size(), kGrowthRuns);
  return estimate;
}

bool keeps_rising(const GrowthSeries& run) {
  if (run.x.size() < kGrowthRounds || falls_back(run.y) || envelope_rise(run.y) <= 0) return false;
  const std::span x(run.x);
  const std::span y(run.y);
  const std::size_t half = x.size() / 2;
  const double whole = line_slope(x, y);
  const double late = line_slope(x.subspan(half), y.subspan(half));
  return whole > 0 && 2 * late >= whole && fit_line(x, y).squares < fit_bounded(x, y, true).squares;
}

std::optional<Meeting> meeting_with(double limit_bytes, const GrowthEstimate& estimate,
                                    double last_round) {
  if (estimate.verdict != GrowthVerdict::growing || !estimate.slope || !estimate.level)
    return std::nullopt;
  if (!(estimate.interval.low > 0) ||
      estimate.interval.high > kLargestFactor * estimate.interval.low)
    return std::nullopt;
  const double left = std::max(0.0, limit_bytes - *estimate.level);
  const Meeting meeting{last_round + left / *estimate.slope,
                        last_round + left / estimate.interval.high,
                        last_round + left / estimate.interval.low};
  return meeting.at <= kFarthest * last_round ? std::optional(meeting) : std::nullopt;
}

}  // namespace memduel
