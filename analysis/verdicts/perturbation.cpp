#include "analysis/verdicts/perturbation.h"

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/values/experiment_view.h"
#include "base/metric_catalogue.h"

namespace memduel {
namespace {

/// Of trials of one kind that lived.
struct Costs {
  std::vector<double> seconds;
  std::vector<double> peaks;  ///< of the tree
};

Costs costs_of(const RunData& run, const std::string& arm, TrialKind kind,
               const std::string& tracer) {
  Costs costs;
  for (const TrialData& trial : run.trials) {
    if (trial.arm != arm || trial.kind != kind || trial.tracer != tracer ||
        trial.status != TrialStatus::ok)
      continue;
    costs.seconds.push_back(trial.seconds());
    if (const auto peak = trial.value(kTree, kPeakRss)) costs.peaks.push_back(*peak);
  }
  return costs;
}

std::optional<double> ratio_of_medians(const std::vector<double>& over,
                                       const std::vector<double>& under) {
  if (over.empty() || under.empty() || median(under) == 0) return std::nullopt;
  return median(over) / median(under);
}

}  // namespace

std::vector<Perturbation> perturbations(const RunData& run) {
  std::vector<Perturbation> found;
  for (const std::string& tracer : tracers_of(run.trials)) {
    for (const nlohmann::json& arm : run.config.value("arms", nlohmann::json::array())) {
      const std::string name = arm.at("name");
      const Costs traced = costs_of(run, name, TrialKind::profile, tracer);
      const Costs plain = costs_of(run, name, TrialKind::measure, {});
      if (traced.seconds.empty() || plain.seconds.empty()) continue;
      found.push_back({name, tracer, ratio_of_medians(traced.seconds, plain.seconds),
                       ratio_of_medians(traced.peaks, plain.peaks)});
    }
  }
  return found;
}

}  // namespace memduel
