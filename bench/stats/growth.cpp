#include "stats/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "growth_shapes.h"
#include "stats/estimates.h"
#include "util/bytes.h"
#include "util/text.h"

namespace memduel {
namespace {

/// Simulated over 100 rounds: leaving out 30% instead finds 3% fewer planted leaks, and takes
/// half of the settling series for leaks, because too little of the settling is left to be seen.
constexpr double kWarmupShare = 0.2;

constexpr double kMatterBytes = kMiB;
constexpr double kMatterShare = 0.02;  ///< of the level, added by the horizon: growth that matters
constexpr double kFlatShare = 0.05;    ///< of the level: less than that by the horizon is bounded
constexpr double kQuietShare = 2.0 / 3;  ///< of the rounds: a jump after that may not be the last
constexpr double kQuietFewRounds = 1.0 / 3;  ///< likewise where there are few rounds
constexpr double kPercent = 100;
constexpr double kLargestFactor = 3;  ///< between the ends of an interval that may be projected

GrowthScale scale_of(const AlignedRuns& all, const GrowthQuestion& question) {
  std::vector<double> levels;
  for (const auto& run : all.runs) levels.push_back(median(run));
  GrowthScale scale;
  scale.level = median(levels);
  scale.horizon = std::clamp(question.horizon, all.x.back(), kFarthest * all.x.back());
  scale.matters = std::max(kMatterShare * std::abs(scale.level), kMatterBytes);
  scale.flat = std::max(kFlatShare * std::abs(scale.level), kMatterBytes);
  return scale;
}

/// From what is seen to a verdict and its reason.
class Judge {
 public:
  Judge(AlignedRuns all, const GrowthQuestion& question)
      : all_(std::move(all)), question_(question), scale_(scale_of(all_, question)) {}

  GrowthEstimate judge() {
    const SeenGrowth seen = GrowthLook(all_, scale_, question_.alpha).look();
    GrowthEstimate out;
    take_slopes(out, seen);
    out.horizon = scale_.horizon;
    out.matters = scale_.matters / scale_.horizon;
    out.level = last_level(0);
    decide(out, seen);
    return out;
  }

 private:
  /// At the pace of each run, so that minutes hold how long its rounds took.
  void take_slopes(GrowthEstimate& out, const SeenGrowth& seen) const {
    out.runs = seen.runs;
    out.trials.values = seen.slope.values;
    if (!question_.paces.empty())
      for (std::size_t i = 0; i < out.runs.size(); ++i)
        out.trials.values[i] *= question_.paces.at(out.runs[i]);
    out.trials.resolution = slope_resolution(question_.resolution, all_.x.back() - all_.x.front());
    out.slope = out.trials.mean();
    out.interval = out.trials.interval(question_.alpha);
  }

  /// Of the last fifth; `slope` carries it from the fifth's middle to the last round.
  [[nodiscard]] double last_level(double slope) const {
    const std::vector<double> mean = mean_series(all_.runs);
    const std::size_t tail = std::max<std::size_t>(1, mean.size() / 5);
    const double level = median({mean.end() - static_cast<std::ptrdiff_t>(tail), mean.end()});
    return level + slope * (all_.x.back() - all_.x[all_.x.size() - tail]) / 2;
  }

  void decide(GrowthEstimate& out, const SeenGrowth& seen) const {
    const double added = *out.slope * scale_.horizon;
    const double most = out.interval.high * scale_.horizon;
    const bool rises = out.interval.low > 0 && added >= scale_.matters;
    const bool told = seen.goes_on && all_.x.size() >= kGrowthRounds;
    if (rises && (told || question_.killed)) {
      out.verdict = GrowthVerdict::growing;
      out.level = last_level(*out.slope);
      out.reason = growing(out, seen);
    } else if (!rises && most < scale_.flat && all_.x.size() >= kBoundedRounds &&
               jumps_ended(seen)) {
      out.verdict = bounded(seen);
      out.reason = bounded_reason(out, seen);
    } else {
      const std::optional<double> more = needed(out, rises);
      if (more) out.rounds_needed = static_cast<int>(std::ceil(*more));
      out.reason = cannot_tell(out, more);
    }
  }

  /// Single jumps go on or not: that takes rounds, and a last third without one.
  [[nodiscard]] bool jumps_ended(const SeenGrowth& seen) const {
    const double share = all_.x.size() >= kGrowthRounds ? kQuietShare : kQuietFewRounds;
    return !seen.is_jump() || seen.warmup < scale_.matters ||
           seen.jump_round <= share * all_.x.back();
  }

  [[nodiscard]] GrowthVerdict bounded(const SeenGrowth& seen) const {
    if (seen.is_jump()) return GrowthVerdict::stepped;
    if (seen.shape == GrowthShape::warmup && seen.warmup >= scale_.matters)
      return GrowthVerdict::leveling_off;
    return GrowthVerdict::flat;
  }

  /// " (95% CI 5 MiB to 8 MiB)"; empty where too few runs have a slope.
  [[nodiscard]] std::string range(const GrowthEstimate& out) const {
    if (!out.trials.has_interval()) return {};
    return fmt::format(
        " ({:.4g}% CI {})", kPercent * (1 - question_.alpha),
        format_interval(format_bytes(out.interval.low), format_bytes(out.interval.high)));
  }

  [[nodiscard]] const char* unit() const { return question_.by_time ? "minute" : "round"; }

  /// "79 rounds", "12.1 s".
  [[nodiscard]] std::string amount_of(double x) const {
    constexpr double kSecondsPerMinute = 60;
    if (question_.by_time) return format_seconds(x * kSecondsPerMinute);
    return format_estimated_count(x, "round");
  }

  /// "by round 79", "within 12.1 s".
  [[nodiscard]] std::string by_horizon() const {
    if (question_.by_time) return "within " + amount_of(scale_.horizon);
    return fmt::format("by round {:.0f}", scale_.horizon);
  }

  [[nodiscard]] std::string growing(const GrowthEstimate& out, const SeenGrowth& seen) const {
    const double from = *out.level;
    const double left = scale_.horizon - all_.x.back();
    std::string text =
        fmt::format("grows by {} per {}{}", format_bytes(*out.slope), unit(), range(out));
    const bool sharp = out.interval.high <= kLargestFactor * out.interval.low;
    if (left > 0 && sharp)
      text += fmt::format(": {} {} ({})", format_bytes(from + *out.slope * left), by_horizon(),
                          format_interval(format_bytes(from + out.interval.low * left),
                                          format_bytes(from + out.interval.high * left)));
    else
      text += fmt::format(": {} over {}", format_bytes(*out.slope * all_.x.back()),
                          amount_of(all_.x.back()));
    if (seen.shape == GrowthShape::staircase) text += ", in steps that continue";
    if (seen.shape == GrowthShape::warmup) text += ", after a warm-up";
    if (seen.shape == GrowthShape::resets) text += ", with occasional drops";
    return text;
  }

  [[nodiscard]] std::string bounded_reason(const GrowthEstimate& out,
                                           const SeenGrowth& seen) const {
    const std::string most =
        fmt::format("grows by at most {} {}",
                    format_bytes(std::max(0.0, out.interval.high) * scale_.horizon), by_horizon());
    switch (bounded(seen)) {
      case GrowthVerdict::leveling_off:
        return fmt::format("levels off near {} after a warm-up; {}", format_bytes(*out.level),
                           most);
      case GrowthVerdict::stepped:
        return fmt::format("rises in single steps and stays near {}; {}", format_bytes(*out.level),
                           most);
      default:
        break;
    }
    return fmt::format(
        "{} {}; {}",
        seen.shape == GrowthShape::resets ? "rises and drops, last near" : "stays near",
        format_bytes(*out.level), most);
  }

  /// The interval of a slope shrinks with the power 3/2 of the rounds.
  [[nodiscard]] std::optional<double> needed(const GrowthEstimate& out, bool rises) const {
    const double seen_rounds = all_.x.back();
    if (all_.x.size() < kGrowthRounds)
      return seen_rounds * kGrowthRounds / static_cast<double>(all_.x.size());
    const double width = out.interval.high - *out.slope;
    const double room = rises ? scale_.matters / scale_.horizon
                              : std::max(scale_.flat / scale_.horizon - *out.slope, *out.slope);
    double factor = room > 0 && std::isfinite(width) ? std::pow(width / room, 2.0 / 3) : 2;
    factor = std::max(factor, 1.5);
    if (factor > kFarthest) return std::nullopt;
    return factor * seen_rounds;
  }

  [[nodiscard]] std::string cannot_tell(const GrowthEstimate& out,
                                        std::optional<double> more) const {
    const bool rises = out.interval.low > 0;
    std::string text = fmt::format("inconclusive after {}", amount_of(all_.x.back()));
    if (more)
      text += fmt::format(" (needs about {})", question_.by_time
                                                   ? amount_of(*more)
                                                   : fmt::format("{:.0f}", std::ceil(*more)));
    return text + fmt::format(": {}{} per {} so far{}{}", *out.slope > 0 ? "+" : "",
                              format_bytes(*out.slope), unit(), range(out),
                              rises ? ", but it may level off" : "");
  }

  AlignedRuns all_;
  GrowthQuestion question_;
  GrowthScale scale_;
};

}  // namespace

size_t growth_warmup(size_t rounds, int warmup_rounds) {
  const auto share = static_cast<size_t>(std::ceil(kWarmupShare * static_cast<double>(rounds)));
  return std::max({static_cast<size_t>(std::max(warmup_rounds, 0)), size_t{2}, share});
}

int rounds_to_judge_growth(int warmup_rounds) {
  int rounds = static_cast<int>(kGrowthRounds);
  while (static_cast<std::size_t>(rounds) <
         growth_warmup(static_cast<std::size_t>(rounds), warmup_rounds) + kGrowthRounds)
    ++rounds;
  return rounds;
}

GrowthEstimate judge_growth(std::span<const GrowthSeries> runs, const GrowthQuestion& question) {
  AlignedRuns all = align_runs(runs);
  if (all.runs.size() >= kGrowthRuns && all.x.size() >= 3)
    return Judge(std::move(all), question).judge();
  GrowthEstimate estimate;
  if (!all.runs.empty() && all.x.size() >= 3) {
    for (std::size_t r = 0; r < all.runs.size(); ++r) {
      estimate.runs.push_back(r);
      estimate.trials.values.push_back(line_slope(all.x, all.runs[r]) *
                                       (question.paces.empty() ? 1 : question.paces[r]));
    }
    estimate.slope = estimate.trials.mean();
  }
  estimate.reason =
      fmt::format("too few trials with three rounds or more after warm-up: {} of at least {}",
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
