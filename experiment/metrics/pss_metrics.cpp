#include "experiment/metrics/pss_metrics.h"

#include <algorithm>

#include "base/metric_catalogue.h"

namespace memduel {
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
