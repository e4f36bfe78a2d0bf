// The growth section of the results.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "analysis_steps.h"
#include "model/experiment_view.h"
#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "stats/growth.h"
#include "trial_growth.h"
#include "util/bytes.h"
#include "util/process.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"

namespace memduel {

namespace {

struct ArmSeries {
  std::vector<GrowthSeries> rss;
  std::vector<GrowthSeries> heap;   ///< of the runs that know it in every round
  std::vector<GrowthSeries> own;    ///< rss without pages of files, likewise
  std::vector<int> blocks;          ///< run by run
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

void add_run(ArmSeries& all, int block, const std::vector<RoundEnd>& rounds, int warmup_rounds) {
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
  all.blocks.push_back(block);
  all.last = all.rss.empty() ? rss.x.back() : std::min(all.last, rss.x.back());
  all.minutes.push_back(minutes_per_round(rounds, warmup_rounds).value_or(0));
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
      add_run(all, trial.block, at->second, warmup_rounds);
  }
  if (!all.rss.empty()) return all;
  all.by_round = false;
  for (const Observation& trial : arm.trials) {
    const auto at = trial.time_windows.find(role);
    if (counts_for_growth(trial) && at != trial.time_windows.end())
      add_run(all, trial.block, at->second, warmup_rounds);
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
  return workload_number(run.config, "model_bytes");
}

/// In minutes after the begin of the first round, at the typical pace.
double minute_of(double round, const ArmSeries& series) {
  return median(series.last_minute) + (round - series.last) * median(series.minutes);
}

struct Judging {
  const ArmObservations& arm;
  const std::string& role;
  const ArmSeries& series;
  GrowthQuestion question;
  std::optional<double> limit;
};

GrowthRow make_row(const Judging& judging, const char* metric, GrowthEstimate estimate) {
  GrowthRow made{{}, std::move(estimate)};
  Growth& row = made.row;
  row.arm = judging.arm.arm;
  row.role = judging.role;
  row.metric = metric;
  row.slope = made.estimate.slope;
  row.ci_low = finite(made.estimate.interval.low);
  row.ci_high = finite(made.estimate.interval.high);
  row.confidence = 1 - judging.question.alpha;
  if (made.estimate.trials.has_interval()) row.method = kStudent;
  row.resolution = made.estimate.trials.resolution;
  for (std::size_t i = 0; i < made.estimate.runs.size(); ++i)
    row.trial_slopes.push_back(
        {judging.series.blocks.at(made.estimate.runs[i]), made.estimate.trials.values.at(i)});
  row.verdict = made.estimate.verdict;
  row.reason = made.estimate.reason;
  row.level = made.estimate.level;
  row.rounds_needed = made.estimate.rounds_needed;
  row.of_files = made.estimate.of_files;
  return made;
}

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
  estimate.of_files = true;
  estimate.reason = fmt::format(
      "maps {} more of its files per {}, which the kernel can reclaim; everything else {}",
      format_bytes(*estimate.slope), question.by_time ? "minute" : "round", own.reason);
}

GrowthEstimate judge_resident(const Judging& judging, const std::optional<GrowthRow>& heap) {
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
  return estimate;
}

GrowthRow rss_row(const Judging& judging, const std::optional<GrowthRow>& heap) {
  GrowthRow made = make_row(judging, kRssGrowthPerRound, judge_resident(judging, heap));
  if (judging.limit) {
    if (const auto meeting = meeting_with(*judging.limit, made.estimate, judging.series.last))
      made.row.projection = Projection{*judging.limit, meeting->at, meeting->low, meeting->high,
                                       finite(minute_of(meeting->at, judging.series))};
  }
  return made;
}

/// Rounds, or windows of time, told in minutes: x in those of the typical run, whose shape is that
/// over the rounds; each run's slope at its own pace.
struct Minutes {
  explicit Minutes(const Judging& judging) : series(judging.series), question(judging.question) {
    const double minutes = median(series.minutes);
    for (auto* runs : {&series.rss, &series.own})
      for (GrowthSeries& run : *runs)
        for (double& x : run.x) x *= minutes;
    series.last *= minutes;
    question.horizon *= minutes;
    question.by_time = true;
    for (double& step : series.minutes) {
      question.paces.push_back(minutes / step);
      step /= minutes;
    }
  }

  ArmSeries series;
  GrowthQuestion question;
};

GrowthRow minute_row(const Judging& by_step, const std::optional<GrowthRow>& heap) {
  const Minutes minutes(by_step);
  const Judging judging{by_step.arm, by_step.role, minutes.series, minutes.question, by_step.limit};
  GrowthRow made = make_row(judging, kRssGrowthPerMinute, judge_resident(judging, heap));
  if (!judging.limit) return made;
  if (const auto meeting = meeting_with(*judging.limit, made.estimate, judging.series.last)) {
    const auto after_begin = [&](double minute) { return minute_of(minute, judging.series); };
    made.row.projection =
        Projection{*judging.limit, std::nullopt, finite(after_begin(meeting->low)),
                   finite(after_begin(meeting->high)), finite(after_begin(meeting->at))};
  }
  return made;
}

/// None if the variant has no rounds and no windows of the role.
std::vector<GrowthRow> rows_of_role(const ArmObservations& arm, const std::string& role,
                                    std::optional<double> limit, std::optional<double> model,
                                    const AnalysisSettings& settings, double alpha) {
  std::vector<GrowthRow> rows;
  const ArmSeries series = collect(arm, role, settings.warmup_rounds);
  if (series.rss.empty()) return rows;
  GrowthQuestion question;
  question.alpha = alpha;
  question.killed = series.killed;
  if (series.by_round) question.horizon = settings.horizon_rounds.value_or(0);
  const Judging judging{arm, role, series, question, limit};
  const bool timed = std::ranges::all_of(series.minutes, [](double step) { return step > 0; });
  if (!series.by_round) {
    if (timed) rows.push_back(minute_row(judging, std::nullopt));
    return rows;
  }
  std::optional<GrowthRow> heap;
  if (series.heap.size() == series.rss.size())
    heap = make_row(judging, kHeapGrowth, judge_growth(series.heap, question));
  GrowthRow rss = rss_row(judging, heap);
  for (GrowthRow* one : {heap ? &*heap : nullptr, &rss})
    if (one != nullptr && model && one->row.slope)
      one->row.model_multiples_per_round = *one->row.slope / *model;
  if (heap) rows.push_back(*heap);
  rows.push_back(std::move(rss));
  if (timed) rows.push_back(minute_row(judging, heap));
  return rows;
}

}  // namespace

std::vector<GrowthRow> growth_rows(const RunData& run, const Observations& observations,
                                   const std::vector<std::string>& roles,
                                   const AnalysisSettings& settings, double alpha) {
  const std::optional<double> limit = memory_limit(run.environment, settings);
  std::vector<std::optional<double>> models;
  for (const ArmObservations& arm : observations.arms) models.push_back(model_bytes(run, arm));
  std::vector<std::vector<GrowthRow>> parts(observations.arms.size() * roles.size());
  run_parallel(parts.size(), [&](std::size_t i) {
    const std::size_t arm = i / roles.size();
    parts[i] = rows_of_role(observations.arms[arm], roles[i % roles.size()], limit, models[arm],
                            settings, alpha);
  });
  std::vector<GrowthRow> rows;
  for (std::vector<GrowthRow>& part : parts) std::ranges::move(part, std::back_inserter(rows));
  return rows;
}

}  // namespace memduel
