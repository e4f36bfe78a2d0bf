#include <fmt/format.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "analysis/experiment_view.h"
#include "base/error.h"

namespace memduel {
namespace {

using nlohmann::json;

const json& at_path(const json& config, const char* path) {
  static const json kNothing;
  const json::json_pointer pointer(path);
  return config.contains(pointer) ? config.at(pointer) : kNothing;
}

std::optional<int> whole_number(const json& config, const char* path) {
  const json& value = at_path(config, path);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_integer() || value.get<long>() < 0 || value.get<long>() > 1000000) {
    throw Error(ExitCode::usage, fmt::format("found {}, expected a whole number", value.dump()),
                path);
  }
  return value.get<int>();
}

}  // namespace

AnalysisSettings settings_from_config(const json& config) {
  AnalysisSettings settings;
  settings.looks = adaptive_looks();
  if (const auto repeats = whole_number(config, "/measure/repeats")) {
    settings.looks = fixed_looks(*repeats);
  }
  settings.warmup_rounds = whole_number(config, "/measure/warmup_rounds").value_or(0);
  settings.seed = static_cast<unsigned long>(whole_number(config, "/measure/seed").value_or(1));
  for (const json& gate : at_path(config, "/gates")) {
    if (!gate.is_string()) {
      throw Error(ExitCode::usage, fmt::format("found {}, expected a gate", gate.dump()), "/gates");
    }
    settings.gates.push_back(parse_gate(gate.get<std::string>()));
  }
  return settings;
}

CheckedLooks planned_looks(const json& config, const AnalysisSettings& settings) {
  const ExperimentView view = view_config(config);
  const std::vector<Gate> gates =
      settings.gates.empty() ? default_gates(view.workload_kind) : settings.gates;
  // A gate on all roles counts once: how many roles have its metric is not known before the run.
  const json& meters = at_path(config, "/measure/meters");
  const bool counts_heap = std::find(meters.begin(), meters.end(), "heap") != meters.end();
  const auto tested = std::count_if(gates.begin(), gates.end(), [&](const Gate& gate) {
    // A default gate that no meter of this config gives is going to be left out.
    const bool absent = gate.is_default && gate.metric == "peak_heap_bytes" && !counts_heap;
    return !gate.advisory && !absent && has_relative_bound(gate);
  });
  const auto candidates = static_cast<std::ptrdiff_t>(view.arms.size()) - 1 -
                          static_cast<std::ptrdiff_t>(view.control_arms.size()) -
                          static_cast<std::ptrdiff_t>(view.ablation_arms.size());
  return check_looks(settings.looks,
                     static_cast<int>(std::max<std::ptrdiff_t>(1, tested * candidates)));
}

}  // namespace memduel
