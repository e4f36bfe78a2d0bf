#include "analysis/questions/part_peaks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/statistics/hodges_lehmann.h"
#include "base/metric_catalogue.h"

namespace memduel {
namespace {

struct NamedPart {
  const char* metric;
  const char* name;
};
constexpr std::array kTrainingParts = {NamedPart{"parameter_bytes", "parameters"},
                                       NamedPart{"gradient_bytes", "gradients"},
                                       NamedPart{"optimizer_bytes", "optimizer"},
                                       NamedPart{"activation_bytes", "activations"},
                                       NamedPart{"data_bytes", "data"},
                                       NamedPart{"teacher_bytes", "teacher"},
                                       NamedPart{kPeakTorchCpu, "all tensors"},
                                       NamedPart{kPeakGpuAllocated, "all on the GPU"}};

/// The highest of a trial's rounds.
std::optional<double> highest(const RoleData& role, const char* metric) {
  std::optional<double> most;
  for (const RoundData& round : role.rounds)
    if (const auto found = round.metrics.value(metric))
      most = std::max(most.value_or(*found), *found);
  return most;
}

std::optional<double> highest_of_arm(const Results& results, const std::string& arm,
                                     const std::string& role, const char* metric) {
  std::vector<double> values;
  for (const TrialData& trial : results.trials) {
    if (trial.arm != arm || !trial.counts()) continue;
    for (const RoleData& data : trial.roles)
      if (data.role == role)
        if (const auto most = highest(data, metric)) values.push_back(*most);
  }
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

std::vector<std::string> roles_with_parts(const Results& results) {
  std::vector<std::string> roles;
  for (const TrialData& trial : results.trials)
    for (const RoleData& role : trial.roles)
      if (highest(role, kTrainingParts.front().metric) &&
          std::ranges::find(roles, role.role) == roles.end())
        roles.push_back(role.role);
  return roles;
}

std::vector<std::string> baseline_first(const Results& results) {
  std::vector<std::string> arms;
  for (const ArmSummary& arm : results.arms)
    if (!arm.ablation) arms.push_back(arm.name);
  std::stable_partition(arms.begin(), arms.end(),
                        [&](const std::string& arm) { return arm == results.baseline; });
  return arms;
}

}  // namespace

std::optional<double> PartPeak::ratio(std::size_t arm) const {
  if (!bytes[0] || !bytes[arm] || *bytes[0] == 0) return {};
  return *bytes[arm] / *bytes[0];
}

std::vector<PartPeaks> part_peaks(const Results& results) {
  std::vector<PartPeaks> all;
  for (const std::string& role : roles_with_parts(results)) {
    PartPeaks peaks{role, baseline_first(results), {}};
    for (const NamedPart& named : kTrainingParts) {
      PartPeak part{named.name, {}};
      for (const std::string& arm : peaks.arms)
        part.bytes.push_back(highest_of_arm(results, arm, role, named.metric));
      const bool known =
          std::ranges::any_of(part.bytes, [](const auto& bytes) { return bytes.has_value(); });
      if (known) peaks.parts.push_back(std::move(part));
    }
    if (!peaks.parts.empty()) all.push_back(std::move(peaks));
  }
  return all;
}

}  // namespace memduel
