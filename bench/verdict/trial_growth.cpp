// Growth inside one run: windows of time, slopes, where those of a watched job lead, and the slopes
// of the stacks of a profile trial.

#include "trial_growth.h"

#include <algorithm>
#include <span>

#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "stats/growth.h"
#include "verdict/comparison.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

constexpr int kWindows = 60;
constexpr std::int64_t kShortestLifeNs = 10'000'000'000;

}  // namespace

std::vector<RoundEnd> time_windows(const Series& rss) {
  std::vector<RoundEnd> windows;
  if (rss.t_ns.empty() || rss.t_ns.back() - rss.t_ns.front() < kShortestLifeNs) return windows;
  const std::int64_t begin_ns = rss.t_ns.front();
  const std::int64_t length_ns = rss.t_ns.back() - begin_ns;
  std::size_t at = 0;
  std::int64_t held = rss.values.front();
  for (int window = 0; window < kWindows; ++window) {
    RoundEnd end{window + 1, begin_ns + length_ns * window / kWindows,
                 begin_ns + length_ns * (window + 1) / kWindows, 0};
    std::int64_t smallest = held;
    for (; at < rss.t_ns.size() && rss.t_ns[at] < end.end_ns; ++at) {
      held = rss.values[at];
      smallest = std::min(smallest, held);
    }
    end.rss_bytes = static_cast<double>(smallest);
    windows.push_back(end);
  }
  return windows;
}

namespace {

/// Nothing where x stands still.
std::optional<double> slope_of(std::span<const double> x, std::span<const double> y) {
  return x.front() < x.back() ? std::optional(line_slope(x, y)) : std::nullopt;
}

}  // namespace

std::optional<double> minutes_per_round(const std::vector<RoundEnd>& rounds, int warmup_rounds) {
  const RoundEnd& first = rounds.at(growth_warmup(rounds.size(), warmup_rounds));
  const RoundEnd& last = rounds.back();
  const double minutes = static_cast<double>(last.end_ns - first.end_ns) / kMinuteNs;
  const double steps = last.round - first.round;
  return minutes > 0 && steps > 0 ? std::optional(minutes / steps) : std::nullopt;
}

GrowthSlopes growth_slopes(const std::vector<RoundEnd>& rounds, int warmup_rounds) {
  std::vector<double> round;
  std::vector<double> rss;
  std::vector<double> heap;
  if (!has_slope(rounds.size(), warmup_rounds)) return {};
  for (size_t k = growth_warmup(rounds.size(), warmup_rounds); k < rounds.size(); ++k) {
    round.push_back(rounds[k].round);
    rss.push_back(rounds[k].rss_bytes);
    if (rounds[k].heap_bytes) heap.push_back(*rounds[k].heap_bytes);
  }
  GrowthSlopes slopes{slope_of(round, rss), std::nullopt, std::nullopt};
  const std::optional<double> minutes = minutes_per_round(rounds, warmup_rounds);
  if (slopes.per_round && minutes) slopes.per_minute = *slopes.per_round / *minutes;
  if (heap.size() == round.size()) slopes.heap_per_round = slope_of(round, heap);
  return slopes;
}

bool asks_for_stacks(const Growth& row) {
  return row.metric == kRssGrowthPerRound && row.slope &&
         (row.verdict == GrowthVerdict::growing ||
          *row.slope >= metric_info(kRssGrowthPerRound).absolute_margin);
}

std::vector<GrowingStack> growing_stacks(const LiveAtRoundEnds& live, double bytes_per_round,
                                         int warmup_rounds) {
  constexpr double kLeastShare = 0.01;
  constexpr std::size_t kMostStacks = 5;
  if (!has_slope(live.rounds.size(), warmup_rounds)) return {};
  const std::size_t first = growth_warmup(live.rounds.size(), warmup_rounds);
  const std::vector<double> rounds(live.rounds.begin() + static_cast<std::ptrdiff_t>(first),
                                   live.rounds.end());
  std::vector<GrowingStack> growing;
  for (const LiveStack& stack : live.stacks) {
    const auto slope = theil_sen_slope(rounds, std::span(stack.bytes).subspan(first));
    if (!slope || *slope <= 0 || *slope < kLeastShare * bytes_per_round) continue;
    growing.push_back({stack.stack, stack.phase, *slope, stack.bytes.back(), stack.location});
  }
  std::ranges::stable_sort(
      growing, [](const auto& a, const auto& b) { return a.bytes_per_round > b.bytes_per_round; });
  if (growing.size() > kMostStacks) growing.resize(kMostStacks);
  return growing;
}

namespace {

/// The rounds or windows that are left after warm-up.
GrowthSeries series_of(const std::vector<RoundEnd>& ends) {
  GrowthSeries series;
  for (std::size_t k = growth_warmup(ends.size(), 0); k < ends.size(); ++k) {
    series.x.push_back(ends[k].round);
    series.y.push_back(ends[k].rss_bytes);
  }
  return series;
}

/// Nothing beyond ten times what was seen: a slope is not known so far.
std::optional<double> steps_left(const WatchSnapshot& snapshot, std::optional<double> slope,
                                 double seen) {
  if (!snapshot.limit || !slope || *slope <= 0) return std::nullopt;
  const double left = std::max(0.0, snapshot.limit->bytes - snapshot.limit->used_bytes) / *slope;
  return left <= (kFarthest - 1) * seen ? std::optional(left) : std::nullopt;
}

}  // namespace

GrowthNow growth_now(const WatchSnapshot& snapshot) {
  const bool by_round = !snapshot.round_ends.empty();
  const std::vector<RoundEnd> ends = by_round ? snapshot.round_ends : time_windows(snapshot.rss);
  const GrowthSlopes slopes = growth_slopes(ends, 0);
  GrowthNow now;
  if (by_round) now.bytes_per_round = slopes.per_round;
  now.bytes_per_minute = slopes.per_minute;
  if (ends.empty()) return now;
  now.keeps_rising = keeps_rising(series_of(ends));
  if (!now.keeps_rising) return now;
  now.rounds_left = steps_left(snapshot, now.bytes_per_round, ends.back().round);
  now.minutes_left =
      steps_left(snapshot, now.bytes_per_minute,
                 static_cast<double>(ends.back().end_ns - ends.front().begin_ns) / kMinuteNs);
  return now;
}

}  // namespace memduel
