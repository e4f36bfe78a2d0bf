#include "end_state.h"

#include <algorithm>

#include "model/metric_catalogue.h"

namespace memduel {
namespace {

constexpr std::int64_t kHeldNs = 100'000'000;
/// A program may free its memory piece by piece before it exits.
constexpr std::int64_t kExitNs = 200'000'000;
/// How late a line of output may be read.
constexpr std::int64_t kLineNs = 20'000'000;
constexpr std::size_t kLeastSamples = 3;

/// Whether the samples up to `last` stayed within the margin for long enough.
bool is_level(const Series& series, std::size_t last, const MetricInfo& info) {
  const auto value = static_cast<double>(series.values[last]);
  const double margin = std::max(info.absolute_margin, info.relative_margin * value);
  std::size_t first = last;
  std::int64_t low = series.values[last];
  std::int64_t high = low;
  while (series.t_ns[last] - series.t_ns[first] < kHeldNs) {
    if (first == 0) return false;
    --first;
    low = std::min(low, series.values[first]);
    high = std::max(high, series.values[first]);
    if (static_cast<double>(high - low) > margin) return false;
  }
  return last - first + 1 >= kLeastSamples;
}

void add_last_levels(Metrics& metrics, std::int64_t end_ns, const Samples& samples) {
  const auto add = [&](const Series& series, const char* metric) {
    if (const auto bytes = level_before(end_ns, series, metric)) metrics[metric] = *bytes;
  };
  add(samples.rss, kEndRss);
  add(samples.heap, kEndHeap);
  add(samples.mapped, kEndMapped);
  add(samples.heap_and_mapped, kEndHeapAndMapped);
}

/// Of a program that idled until it wrote a line. Samples of the last milliseconds before the line
/// was read may be of what came after it.
std::optional<double> idled_at(std::int64_t begin_ns, std::int64_t line_ns, const Series& rss) {
  const MetricInfo info = metric_info(kEndRss);
  const auto next = std::ranges::lower_bound(rss.t_ns, line_ns);
  for (auto last = static_cast<std::size_t>(next - rss.t_ns.begin()); last-- > 0;) {
    const std::int64_t age_ns = line_ns - rss.t_ns[last];
    if (age_ns > kHeldNs || rss.t_ns[last] <= begin_ns) break;
    if (is_level(rss, last, info)) return static_cast<double>(rss.values[last]);
    if (age_ns > kLineNs) break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> level_before(std::int64_t end_ns, const Series& series,
                                   const std::string& metric) {
  const MetricInfo info = metric_info(metric);
  for (std::size_t last = series.values.size(); last-- > 0;) {
    if (end_ns - series.t_ns[last] > kExitNs) break;
    // Of a process that has just ended there is nothing left to sample.
    if (series.values[last] > 0 && is_level(series, last, info))
      return static_cast<double>(series.values[last]);
  }
  return std::nullopt;
}

std::optional<double> rss_at_end(std::int64_t begin_ns, const MarkEvent& mark, const Series& rss) {
  if (mark.is_of_line && mark.mark.kind == Mark::Kind::round_begin)
    if (const auto level = idled_at(begin_ns, mark.mark.t_ns, rss)) return level;
  if (!mark.mark.sizes.rss) return std::nullopt;
  return static_cast<double>(*mark.mark.sizes.rss);
}

void add_end_state(RoleData& data, const RoleTrace& trace) {
  if (!marks_rounds(trace)) add_last_levels(data.metrics, end_of(trace), trace);
}

void add_tree_end_state(RoleData& tree, const TrialTrace& trace) {
  std::int64_t end_ns = 0;
  for (const RoleTrace& role : trace.roles) {
    if (marks_rounds(role)) return;
    end_ns = std::max(end_ns, end_of(role));
  }
  add_last_levels(tree.metrics, end_ns, trace.tree);
}

namespace {

/// The round that had just ended at `t_ns` or was about to; null inside rounds and before the
/// first.
RoundData* round_ended_before(std::vector<RoundData>& rounds, std::int64_t t_ns) {
  RoundData* last = nullptr;
  for (RoundData& round : rounds) {
    if (round.begin_ns > t_ns) break;
    last = round.end_ns <= t_ns + kNearEndNs ? &round : nullptr;
  }
  return last;
}

}  // namespace

void add_pss(RoleData& data, const std::vector<PssSweep>& sweeps,
             const std::function<std::optional<double>(const PssSweep&)>& bytes_of) {
  Series series{"pss_bytes", {}, {}};
  for (const PssSweep& sweep : sweeps) {
    const auto bytes = bytes_of(sweep);
    if (!bytes) continue;
    series.t_ns.push_back(sweep.t_ns);
    series.values.push_back(static_cast<std::int64_t>(*bytes));
    auto& peak = data.metrics[kPeakPss];
    peak = std::max(peak, *bytes);
    RoundData* round = round_ended_before(data.rounds.edit(), sweep.t_ns);
    if (round != nullptr) round->metrics.emplace(kEndPss, *bytes);
  }
  if (series.t_ns.empty()) return;
  data.series.push_back(std::move(series));
  if (data.rounds.empty()) return;
  if (const auto last = data.rounds.back().metrics.value(kEndPss)) data.metrics[kEndPss] = *last;
}

void keep_pss_of_the_peak(RoleData& data, const Series& rss) {
  constexpr double kNearPeak = 0.95;
  const auto peak = data.metrics.value(kPeakPss);
  if (!peak) return;
  const auto series = std::ranges::find_if(
      data.series, [](const Series& one) { return one.metric == "pss_bytes"; });
  const auto of_rss = data.metrics.value(kPeakRss);
  const bool below_anonymous = *peak < data.metrics.value(kPeakRssAnon).value_or(0);
  bool near = false;
  for (std::size_t i = 0; of_rss && i < series->t_ns.size(); ++i) {
    const auto after = std::ranges::upper_bound(rss.t_ns, series->t_ns[i]);
    if (after == rss.t_ns.begin()) continue;
    const auto at = static_cast<std::size_t>(after - rss.t_ns.begin()) - 1;
    near = near || static_cast<double>(rss.values[at]) >= kNearPeak * *of_rss;
  }
  if (!near || below_anonymous) data.metrics.erase(kPeakPss);
}

}  // namespace memduel
