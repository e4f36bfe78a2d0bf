#include "analysis/verdicts/growth_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/growth/growth.h"
#include "analysis/growth/growth_slopes.h"
#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/values/experiment_view.h"
#include "analysis/verdicts/analyse.h"
#include "analysis/verdicts/comparison.h"
#include "analysis/verdicts/lower_bounds.h"
#include "base/metric_catalogue.h"
#include "base/page_bytes.h"
#include "base/text.h"

namespace memduel {
namespace {

struct ArmSeries {
  std::vector<GrowthSeries> rss;
  std::vector<GrowthSeries> heap;   ///< of the runs that know it in every round
  std::vector<GrowthSeries> own;    ///< rss without pages of files, likewise
  std::vector<double> minutes;      ///< per step of x, run by run
  std::vector<double> last_minute;  ///< after the begin of the first round
  double last = 0;                  ///< the last x that all runs have
  bool killed = false;              ///< for memory, most of the runs
  bool by_round = true;             ///< else x is in windows of equal length
};

/// The rounds up to a death count: growth is what kills for memory.
bool counts_for_growth(const Observation& trial) {
  return trial.status == TrialStatus::ok || trial.status == TrialStatus::killed_for_memory;
}

void add_run(ArmSeries& all, const std::vector<RoundEnd>& rounds, int warmup_rounds) {
  GrowthSeries rss;
  GrowthSeries heap;
  GrowthSeries own;
  const size_t first = growth_warmup(rounds.size(), warmup_rounds);
  for (size_t k = first; k < rounds.size(); ++k) {
    rss.x.push_back(rounds[k].round);
    rss.y.push_back(rounds[k].rss_bytes);
    if (rounds[k].file_bytes) {
      own.x.push_back(rounds[k].round);
      own.y.push_back(rounds[k].rss_bytes - *rounds[k].file_bytes);
    }
    if (!rounds[k].heap_bytes) continue;
    heap.x.push_back(rounds[k].round);
    heap.y.push_back(*rounds[k].heap_bytes);
  }
  if (rss.x.size() < 3) return;
  all.last = all.rss.empty() ? rss.x.back() : std::min(all.last, rss.x.back());
  all.minutes.push_back(static_cast<double>(rounds.back().end_ns - rounds[first].end_ns) /
                        kMinuteNs / (rss.x.back() - rss.x.front()));
  all.last_minute.push_back(static_cast<double>(rounds.back().end_ns - rounds.front().begin_ns) /
                            kMinuteNs);
  if (heap.x.size() == rss.x.size()) all.heap.push_back(std::move(heap));
  if (own.x.size() == rss.x.size()) all.own.push_back(std::move(own));
  all.rss.push_back(std::move(rss));
}

ArmSeries collect(const ArmObservations& arm, const std::string& role, int warmup_rounds) {
  ArmSeries all;
  const auto killed = std::ranges::count_if(
      arm.trials, [](const auto& trial) { return trial.status == TrialStatus::killed_for_memory; });
  all.killed = 2 * static_cast<size_t>(killed) > arm.trials.size();
  for (const Observation& trial : arm.trials) {
    const auto at = trial.round_ends.find(role);
    if (counts_for_growth(trial) && at != trial.round_ends.end())
      add_run(all, at->second, warmup_rounds);
  }
  if (!all.rss.empty()) return all;
  all.by_round = false;
  for (const Observation& trial : arm.trials) {
    const auto at = trial.time_windows.find(role);
    if (counts_for_growth(trial) && at != trial.time_windows.end())
      add_run(all, at->second, warmup_rounds);
  }
  return all;
}

std::optional<double> number_at(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return std::nullopt;
  const auto at = object.find(name);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  return at->get<double>();
}

std::optional<double> memory_limit(const nlohmann::json& environment,
                                   const AnalysisSettings& settings) {
  if (settings.memory_limit_bytes) return settings.memory_limit_bytes;
  const auto cgroup = number_at(environment, "cgroup_limit_bytes");
  return cgroup ? cgroup : number_at(environment, "memory_bytes");
}

std::optional<double> model_bytes(const RunData& run, const ArmObservations& arm) {
  for (const Observation& trial : arm.trials) {
    for (const auto& [role, metrics] : trial.roles) {
      if (const auto bytes = metrics.value("model_bytes"); bytes > 0) return bytes;
    }
  }
  if (const auto model = model_sizes(run.environment)) return model->state;
  const nlohmann::json& workload = workload_that_ran(run.config);
  if (!workload.is_object()) return std::nullopt;
  return number_at(workload, "model_bytes");
}

GrowthRow make_row(const std::string& arm, const std::string& role, const char* metric,
                   GrowthEstimate estimate) {
  GrowthRow made{{}, std::move(estimate)};
  Growth& row = made.row;
  row.arm = arm;
  row.role = role;
  row.metric = metric;
  row.slope = made.estimate.slope;
  row.ci_low = finite(made.estimate.interval.low);
  row.ci_high = finite(made.estimate.interval.high);
  row.verdict = made.estimate.verdict;
  row.reason = made.estimate.reason;
  row.level = made.estimate.level;
  row.rounds_needed = made.estimate.rounds_needed;
  return made;
}

/// In minutes after the begin of the first round, at the typical pace.
double minute_of(double round, const ArmSeries& series) {
  return median(series.last_minute) + (round - series.last) * median(series.minutes);
}

/// Slopes and rounds of `estimate` in minutes: one judgement, told in two units.
GrowthEstimate by_minute(GrowthEstimate estimate, double minutes) {
  if (estimate.slope) *estimate.slope /= minutes;
  estimate.interval = {estimate.interval.low / minutes, estimate.interval.high / minutes};
  estimate.error /= minutes;
  estimate.matters /= minutes;
  return estimate;
}

struct Judging {
  const ArmObservations& arm;
  const std::string& role;
  const ArmSeries& series;
  GrowthQuestion question;
  std::optional<double> limit;
};

/// Pages of a mapped file stay resident while nobody needs the memory: where they alone grow, the
/// verdict is that of the rest.
void look_past_files(GrowthEstimate& estimate, const Judging& judging,
                     const GrowthQuestion& question) {
  if (estimate.verdict != GrowthVerdict::growing || question.killed ||
      judging.series.own.size() != judging.series.rss.size())
    return;
  const GrowthEstimate own = judge_growth(judging.series.own, question);
  if (!is_bounded(own.verdict)) return;
  estimate.verdict = own.verdict;
  estimate.level = own.level;
  estimate.reason =
      fmt::format("maps {} more of its files per round, which the kernel takes back; all else {}",
                  format_bytes(*estimate.slope), own.reason);
}

GrowthRow rss_row(const Judging& judging, const std::optional<GrowthRow>& heap) {
  GrowthQuestion question = judging.question;
  question.resolution = kPageBytes;
  GrowthEstimate estimate = judge_growth(judging.series.rss, question);
  look_past_files(estimate, judging, question);
  // What grows in live bytes grows in memory too; the noise of the resident set only hides it.
  if (heap && heap->row.verdict == GrowthVerdict::growing &&
      estimate.verdict == GrowthVerdict::inconclusive) {
    estimate.verdict = GrowthVerdict::growing;
    estimate.reason = "its live heap " + heap->row.reason;
  }
  GrowthRow made = make_row(judging.arm.arm, judging.role, kRssGrowthPerRound, estimate);
  if (judging.limit) {
    if (const auto meeting = meeting_with(*judging.limit, estimate, judging.series.last))
      made.row.projection = Projection{*judging.limit, meeting->at, meeting->low, meeting->high,
                                       finite(minute_of(meeting->at, judging.series))};
  }
  return made;
}

/// The same judgement per minute. Where there are no rounds, its x are windows.
GrowthRow minute_row(const Judging& judging, const GrowthRow& by_step) {
  const double minutes = median(judging.series.minutes);
  GrowthRow made = make_row(judging.arm.arm, judging.role, kRssGrowthPerMinute,
                            by_minute(by_step.estimate, minutes));
  if (const auto& to = by_step.row.projection)
    made.row.projection =
        Projection{to->limit_bytes, std::nullopt, minute_of(*to->ci_low, judging.series),
                   minute_of(*to->ci_high, judging.series), to->minute};
  return made;
}

/// Windows told in minutes.
ArmSeries in_minutes(ArmSeries series) {
  const double minutes = median(series.minutes);
  for (GrowthSeries& run : series.rss)
    for (double& x : run.x) x *= minutes;
  series.last *= minutes;
  for (double& step : series.minutes) step /= minutes;
  return series;
}

}  // namespace

std::vector<GrowthRow> growth_rows(const RunData& run, const Observations& observations,
                                   const std::vector<std::string>& roles,
                                   const AnalysisSettings& settings, double alpha) {
  std::vector<GrowthRow> rows;
  const std::optional<double> limit = memory_limit(run.environment, settings);
  for (const ArmObservations& arm : observations.arms) {
    const std::optional<double> model = model_bytes(run, arm);
    for (const std::string& role : roles) {
      ArmSeries series = collect(arm, role, settings.warmup_rounds);
      if (series.rss.empty()) continue;
      GrowthQuestion question;
      question.alpha = alpha;
      question.killed = series.killed;
      if (!series.by_round) {
        series = in_minutes(std::move(series));
        question.by_time = true;
        const Judging judging{arm, role, series, question, limit};
        rows.push_back(minute_row(judging, rss_row(judging, std::nullopt)));
        continue;
      }
      question.horizon = settings.horizon_rounds.value_or(0);
      const Judging judging{arm, role, series, question, limit};
      std::optional<GrowthRow> heap;
      if (series.heap.size() == series.rss.size())
        heap = make_row(arm.arm, role, kHeapGrowth, judge_growth(series.heap, question));
      GrowthRow rss = rss_row(judging, heap);
      GrowthRow minute = minute_row(judging, rss);
      for (GrowthRow* one : {heap ? &*heap : nullptr, &rss})
        if (one != nullptr && model && one->row.slope)
          one->row.model_multiples_per_round = *one->row.slope / *model;
      if (heap) rows.push_back(std::move(*heap));
      rows.push_back(std::move(rss));
      rows.push_back(std::move(minute));
    }
  }
  return rows;
}

}  // namespace memduel
