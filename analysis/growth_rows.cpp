#include "analysis/growth_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/analyse.h"
#include "analysis/comparison.h"
#include "analysis/growth.h"
#include "analysis/hodges_lehmann.h"
#include "analysis/lower_bounds.h"
#include "analysis/metrics.h"

namespace memduel {
namespace {

constexpr double kNanosecondsPerMinute = 60e9;

struct ArmSeries {
  std::vector<GrowthSeries> per_round;
  std::vector<GrowthSeries> per_minute;
};

ArmSeries collect(const ArmObservations& arm, const std::string& role, int warmup_rounds) {
  ArmSeries all;
  for (const Observation& trial : arm.trials) {
    const auto at = trial.round_ends.find(role);
    // Growth is what kills for memory: the rounds up to there are the evidence.
    const bool counts =
        trial.status == TrialStatus::ok || trial.status == TrialStatus::killed_for_memory;
    if (!counts || at == trial.round_ends.end()) continue;
    const bool has_rounds = !at->second.empty();
    const std::vector<RoundEnd>& rounds = has_rounds ? at->second : trial.time_windows.at(role);
    GrowthSeries by_round;
    GrowthSeries by_minute;
    for (size_t k = growth_warmup(rounds.size(), warmup_rounds); k < rounds.size(); ++k) {
      by_round.x.push_back(rounds[k].round);
      by_minute.x.push_back(static_cast<double>(rounds[k].end_ns - rounds.front().begin_ns) /
                            kNanosecondsPerMinute);
      by_round.y.push_back(rounds[k].rss_bytes);
      by_minute.y.push_back(rounds[k].rss_bytes);
    }
    if (by_round.x.size() < 3) continue;
    if (has_rounds) all.per_round.push_back(std::move(by_round));
    all.per_minute.push_back(std::move(by_minute));
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
      const auto at = metrics.find("model_bytes");
      if (at != metrics.end() && at->second > 0) return at->second;
    }
  }
  if (const auto model = model_sizes(run.environment)) return model->state;
  if (!run.config.is_object() || !run.config.contains("workload")) return std::nullopt;
  return number_at(run.config["workload"], "model_bytes");
}

Growth make_row(const std::string& arm, const std::string& role, const char* metric,
                const GrowthEstimate& estimate) {
  Growth row;
  row.arm = arm;
  row.role = role;
  row.metric = metric;
  row.slope = estimate.slope;
  row.ci_low = finite(estimate.interval.low);
  row.ci_high = finite(estimate.interval.high);
  row.verdict = estimate.verdict;
  row.reason = estimate.reason;
  return row;
}

/// When a round ends at the typical pace, in minutes after the begin of the first one.
double minute_of(double round, const ArmSeries& series) {
  std::vector<double> paces;
  std::vector<double> last_rounds;
  std::vector<double> last_minutes;
  for (size_t i = 0; i < series.per_round.size(); ++i) {
    const std::vector<double>& rounds = series.per_round[i].x;
    const std::vector<double>& minutes = series.per_minute[i].x;
    paces.push_back((minutes.back() - minutes.front()) / (rounds.back() - rounds.front()));
    last_rounds.push_back(rounds.back());
    last_minutes.push_back(minutes.back());
  }
  return median(last_minutes) + (round - median(last_rounds)) * median(paces);
}

struct Judged {
  Growth row;
  std::optional<Meeting> meeting;  ///< with the limit, of a series that grows
};

Judged judge(const ArmObservations& arm, const std::string& role, const char* metric,
             const std::vector<GrowthSeries>& runs, std::optional<double> limit) {
  const GrowthEstimate estimate = judge_growth(runs, metric_info(metric).absolute_margin, metric);
  Judged judged{make_row(arm.arm, role, metric, estimate), std::nullopt};
  if (limit && estimate.verdict == GrowthVerdict::growing)
    judged.meeting = meeting_with(*limit, estimate, runs);
  return judged;
}

Growth per_round_row(const ArmObservations& arm, const std::string& role, const ArmSeries& series,
                     std::optional<double> limit) {
  auto [row, meeting] = judge(arm, role, "rss_growth_bytes_per_round", series.per_round, limit);
  if (meeting)
    row.projection = Projection{*limit, meeting->at, meeting->low, meeting->high,
                                finite(minute_of(meeting->at, series))};
  return row;
}

Growth per_minute_row(const ArmObservations& arm, const std::string& role, const ArmSeries& series,
                      std::optional<double> limit) {
  auto [row, meeting] = judge(arm, role, "rss_growth_bytes_per_minute", series.per_minute, limit);
  if (meeting)
    row.projection = Projection{*limit, std::nullopt, meeting->low, meeting->high, meeting->at};
  return row;
}

}  // namespace

std::vector<Growth> growth_rows(const RunData& run, const Observations& observations,
                                const std::vector<std::string>& roles,
                                const AnalysisSettings& settings) {
  std::vector<Growth> rows;
  const std::optional<double> limit = memory_limit(run.environment, settings);
  for (const ArmObservations& arm : observations.arms) {
    const std::optional<double> model = model_bytes(run, arm);
    for (const std::string& role : roles) {
      const ArmSeries series = collect(arm, role, settings.warmup_rounds);
      if (!series.per_round.empty()) {
        rows.push_back(per_round_row(arm, role, series, limit));
        Growth& row = rows.back();
        if (model && row.slope) row.model_multiples_per_round = *row.slope / *model;
      }
      if (series.per_minute.empty()) continue;
      rows.push_back(per_minute_row(arm, role, series, limit));
    }
  }
  return rows;
}

}  // namespace memduel
