#include "model/experiment_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

ExperimentView view_config(const Document& config) {
  ExperimentView view;
  view.baseline = config.baseline;
  for (const Variant& variant : config.variants) {
    add_once(view.arms, variant.name);
    if (variant.twin_of) view.control_arms.insert(variant.name);
  }
  if (config.ablation)
    for (const PlannedSwitch& one : config.ablation->switches)
      for (const auto& arm : {one.added_alone.variant, one.removed_alone.variant})
        if (arm && *arm != config.baseline && *arm != config.ablation->candidate)
          view.ablation_arms.insert(*arm);
  if (view.control_arms.size() + 1 == view.arms.size()) view.control_arms.clear();
  return view;
}

ExperimentView view_experiment(const RunData& run) {
  ExperimentView view = view_config(run.config);
  if (view.arms.empty()) {
    for (const TrialData& trial : run.trials) add_once(view.arms, trial.arm);
  }
  if (view.baseline.empty() && !view.arms.empty()) view.baseline = view.arms.front();
  const auto at = std::ranges::find(view.arms, view.baseline);
  if (at == view.arms.end()) {
    throw Error(ExitCode::usage, fmt::format("baseline '{}' is no variant", view.baseline),
                "/baseline", nearest_advice(view.baseline, view.arms));
  }
  std::rotate(view.arms.begin(), at, at + 1);
  return view;
}

std::vector<std::string> tracers_of(std::span<const TrialData> trials) {
  std::vector<std::string> tracers;
  for (const TrialData& trial : trials)
    if (trial.kind == TrialKind::profile) add_once(tracers, trial.tracer);
  return tracers;
}

}  // namespace memduel
