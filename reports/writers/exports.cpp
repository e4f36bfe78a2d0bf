// The numbers of a run for other programs: CSV, Bencher, benchmark-action.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "escape.h"
#include "model/metric_catalogue.h"
#include "reports/text_formats.h"
#include "util/text.h"

namespace memduel {
namespace {

void add_rows(std::string& out, const std::string& prefix, const Metrics& metrics,
              const std::string& tracer) {
  for (const auto& [metric, value] : metrics)
    out += fmt::format("{},{},{},{}\n", prefix, escape_csv(metric), value, tracer);
}

}  // namespace

std::string render_csv(const ReportModel& model) {
  std::string out =
      "trial,block,position,variant,kind,status,role,round,phase,metric,value,profiler\n";
  for (const TrialData& trial : model.results.trials) {
    const std::string tracer = escape_csv(trial.tracer);
    for (const RoleData& role : trial.roles) {
      const std::string prefix = fmt::format(
          "{},{},{},{},{},{},{}", trial.id, trial.block, trial.position, escape_csv(trial.arm),
          to_name(trial.kind), to_name(trial.status), escape_csv(role.role));
      add_rows(out, prefix + ",,", role.metrics, tracer);
      for (const RoundData& round : role.rounds) {
        add_rows(out, fmt::format("{},{},", prefix, round.round), round.metrics, tracer);
        for (const PhaseData& phase : round.phases)
          add_rows(out, fmt::format("{},{},{}", prefix, round.round, escape_csv(phase.phase)),
                   phase.metrics, tracer);
      }
    }
  }
  return out;
}

namespace {

using nlohmann::json;

using Tell = std::function<void(const std::string& role, const std::string& arm,
                                const std::string& metric, double value)>;

/// The medians of every row that a report shows first, each arm's once.
void each_median(const Results& results, const Tell& tell) {
  std::set<std::tuple<std::string, std::string, std::string>> told;
  const auto add = [&](const Comparison& c, const std::string& arm, std::optional<double> value) {
    if (value && told.emplace(c.role, arm, c.metric).second)
      tell(valid_utf8(c.role), valid_utf8(arm), valid_utf8(c.metric), *value);
  };
  for (const Comparison& c : results.comparisons) {
    if (!c.is_asked() && !metric_info(c.metric).is_key) continue;
    add(c, c.baseline, c.baseline_median);
    add(c, c.candidate, c.candidate_median);
  }
}

/// "bytes" of peak_rss_bytes; all metrics end with their unit.
std::string unit_of(const std::string& metric) {
  const std::size_t last = metric.rfind('_');
  return last == std::string::npos ? "" : metric.substr(last + 1);
}

}  // namespace

std::string render_bencher(const ReportModel& model) {
  json all = json::object();
  each_median(model.results, [&](const std::string& role, const std::string& arm,
                                 const std::string& metric, double value) {
    all[fmt::format("{} of {}", role, arm)][metric] = {{"value", value}};
  });
  return all.dump(2) + "\n";
}

std::string render_benchmark_action(const ReportModel& model) {
  json all = json::array();
  each_median(model.results, [&](const std::string& role, const std::string& arm,
                                 const std::string& metric, double value) {
    all.push_back({{"name", fmt::format("{} of {}: {}", role, arm, metric)},
                   {"unit", unit_of(metric)},
                   {"value", value}});
  });
  return all.dump(2) + "\n";
}

}  // namespace memduel
