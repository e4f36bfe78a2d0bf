#include "analysis/equivalence.h"

#include <algorithm>

#include "analysis/hodges_lehmann.h"
#include "analysis/metrics.h"

namespace memduel {
namespace {

bool is_quality(const std::string& metric) {
  return metric.ends_with("_ratio") || metric.ends_with("_loss");
}

/// Median over trials by metric; a metric that several roles have comes from the first by name.
std::map<std::string, double> quality_medians(const ArmObservations& arm) {
  std::map<RoleMetric, std::vector<double>> values;
  for (const Observation& trial : arm.trials) {
    if (trial.status != TrialStatus::ok) continue;
    for (const auto& [role, metrics] : trial.roles) {
      for (const auto& [metric, value] : metrics) {
        // Clients see their own share of the data; the server's number is the model's.
        const std::string order = role == "server" ? "" : role;
        if (is_quality(metric)) values[{order, metric}].push_back(value);
      }
    }
  }
  std::map<std::string, double> medians;
  for (const auto& [row, numbers] : values) medians.emplace(row.metric, median(numbers));
  return medians;
}

}  // namespace

std::optional<std::string> agreed_model(const RunData& run, const std::string& arm) {
  std::optional<std::string> agreed;
  for (const TrialData& trial : run.trials) {
    if (trial.arm != arm || trial.kind != TrialKind::measure || trial.status != TrialStatus::ok) {
      continue;
    }
    if (!trial.model_sha256 || (agreed && *agreed != *trial.model_sha256)) return std::nullopt;
    agreed = trial.model_sha256;
  }
  return agreed;
}

Equivalence equivalence_of(const RunData& run, const ArmObservations& baseline,
                           const ArmObservations& candidate) {
  Equivalence result;
  result.baseline = baseline.arm;
  result.candidate = candidate.arm;
  const auto a = agreed_model(run, baseline.arm);
  const auto b = agreed_model(run, candidate.arm);
  if (a && b) result.bit_identical = *a == *b;
  if (result.bit_identical == true) result.max_abs_diff = 0;
  for (const ModelDifference& difference : run.model_differences) {
    if (difference.baseline != baseline.arm || difference.candidate != candidate.arm) continue;
    result.bit_identical = difference.bit_identical;
    result.max_abs_diff = difference.max_abs_diff;
  }
  const std::map<std::string, double> of_a = quality_medians(baseline);
  for (const auto& [metric, value] : quality_medians(candidate)) {
    const auto at = of_a.find(metric);
    if (at != of_a.end()) result.metrics[metric] = {at->second, value};
  }
  return result;
}

}  // namespace memduel
