#include "model/experiment_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

const json& member(const json& object, const char* name) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto at = object.find(name);
  return at == object.end() ? kNothing : *at;
}

std::string text_member(const json& object, const char* name) {
  const json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

AblationArm ablation_arm(const json& cell) {
  AblationArm arm;
  if (member(cell, "variant").is_string()) arm.arm = text_member(cell, "variant");
  arm.idle = member(cell, "idle").is_string();
  arm.why_not = arm.idle ? "changes nothing: " + text_member(cell, "idle")
                         : "not possible: " + text_member(cell, "refused");
  return arm;
}

void view_ablation(const json& section, ExperimentView& view) {
  if (!section.is_object()) return;
  view.ablation = AblationView{text_member(section, "candidate"), {}};
  for (const json& one : member(section, "switches"))
    view.ablation->switches.push_back({text_member(one, "name"),
                                       ablation_arm(member(one, "added_alone")),
                                       ablation_arm(member(one, "removed_alone"))});
  for (const AblationSwitch& one : view.ablation->switches) {
    for (const auto& arm : {one.added_alone.arm, one.left_out.arm})
      if (arm && *arm != view.baseline && *arm != view.ablation->candidate)
        view.ablation_arms.insert(*arm);
  }
}

}  // namespace

const nlohmann::json& setting_of(const nlohmann::json& config, const char* path) {
  static const nlohmann::json kNone;
  const nlohmann::json::json_pointer pointer(path);
  return config.is_object() && config.contains(pointer) ? config.at(pointer) : kNone;
}

const json& workload_that_ran(const json& config) {
  const json& expanded = member(config, "expanded");
  return member(expanded.is_object() ? expanded : config, "workload");
}

ExperimentView view_config(const json& config) {
  ExperimentView view;
  view.name = text_member(config, "name");
  view.baseline = text_member(config, "baseline");
  for (const json& arm : member(config, "variants")) {
    const std::string name = text_member(arm, "name");
    add_once(view.arms, name);
    if (member(arm, "allocator").is_string()) view.allocators[name] = text_member(arm, "allocator");
    if (member(arm, "twin_of").is_string()) view.control_arms.insert(name);
    const json& optimizations = member(arm, "switches");
    view.optimizations[name] = optimizations.is_object() ? optimizations : json::object();
  }
  view_ablation(member(config, "ablation"), view);
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
