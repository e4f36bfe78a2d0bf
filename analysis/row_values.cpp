#include "analysis/row_values.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace memduel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<double> value_of(const Observation& trial, const std::string& role,
                               const std::string& metric) {
  const auto of_role = trial.roles.find(role);
  if (of_role == trial.roles.end()) return std::nullopt;
  const auto at = of_role->second.find(metric);
  return at == of_role->second.end() ? std::nullopt : std::optional(at->second);
}

const Observation* find_block(const ArmObservations& arm, int block) {
  const auto at = std::find_if(arm.trials.begin(), arm.trials.end(),
                               [&](const Observation& trial) { return trial.block == block; });
  return at == arm.trials.end() ? nullptr : &*at;
}

void note_failure(RowValues& row, const Observation& trial) {
  if (row.candidate_failed++ == 0) row.failure = trial.failure;
  if (trial.status == TrialStatus::killed_for_memory) ++row.candidate_killed_for_memory;
}

RowValues paired_values(const ArmObservations& baseline, const ArmObservations& candidate,
                        const std::string& role, const MetricInfo& metric) {
  RowValues row;
  for (const Observation& a : baseline.trials) {
    const Observation* b = find_block(candidate, a.block);
    if (b == nullptr) continue;
    if (a.status != TrialStatus::ok) {
      ++row.baseline_failed;
      continue;
    }
    const auto value_a = value_of(a, role, metric.name);
    const auto value_b = value_of(*b, role, metric.name);
    if (b->status != TrialStatus::ok) note_failure(row, *b);
    if (!value_a || (!value_b && b->status == TrialStatus::ok)) {
      ++row.incomplete;
      continue;
    }
    row.baseline.push_back(*value_a);
    row.candidate.push_back(b->status == TrialStatus::ok ? *value_b
                            : metric.lower_is_better     ? kInfinity
                                                         : -kInfinity);
  }
  return row;
}

RowValues unpaired_values(const ArmObservations& baseline, const ArmObservations& candidate,
                          const std::string& role, const MetricInfo& metric) {
  RowValues row;
  for (const Observation& a : baseline.trials) {
    const auto value = value_of(a, role, metric.name);
    if (a.status != TrialStatus::ok) {
      ++row.baseline_failed;
    } else if (value) {
      row.baseline.push_back(*value);
    } else {
      ++row.incomplete;
    }
  }
  for (const Observation& b : candidate.trials) {
    const auto value = value_of(b, role, metric.name);
    if (b.status != TrialStatus::ok) {
      note_failure(row, b);
      row.candidate.push_back(metric.lower_is_better ? kInfinity : -kInfinity);
    } else if (value) {
      row.candidate.push_back(*value);
    } else {
      ++row.incomplete;
    }
  }
  return row;
}

}  // namespace

RowValues row_values(const ArmObservations& baseline, const ArmObservations& candidate,
                     const std::string& role, const MetricInfo& metric, Design design) {
  return design == Design::paired ? paired_values(baseline, candidate, role, metric)
                                  : unpaired_values(baseline, candidate, role, metric);
}

}  // namespace memduel
