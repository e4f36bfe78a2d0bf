#include <fmt/format.h>

#include <algorithm>

#include "analysis/growth/growth.h"
#include "analysis/growth/observations.h"
#include "analysis/values/experiment_view.h"
#include "analysis/verdicts/analyse.h"
#include "analysis/verdicts/comparison.h"
#include "analysis/verdicts/default_gates.h"
#include "base/error.h"
#include "base/metric_catalogue.h"

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

/// Whether the config cannot give a default gate's metric, so that it is going to be left out.
bool is_left_out(const Gate& gate, const json& config, int warmup_rounds) {
  if (!gate.is_default) return false;
  if (gate.metric == kPeakHeap) {
    const json& meters = at_path(config, "/measure/meters");
    return std::ranges::find(meters, "heap") == meters.end();
  }
  const std::optional<int> rounds = whole_number(workload_that_ran(config), "/rounds");
  return is_growth_metric(gate.metric) && rounds && *rounds < rounds_to_judge_growth(warmup_rounds);
}

}  // namespace

AnalysisSettings settings_from_config(const json& config) {
  AnalysisSettings settings;
  settings.looks = adaptive_looks();
  const json& order = at_path(config, "/measure/order");
  settings.design = order == "superblocks" ? Design::superblocks : Design::paired;
  if (const auto repeats = whole_number(config, "/measure/repeats")) {
    settings.looks = fixed_looks(*repeats);
  }
  settings.warmup_rounds = whole_number(config, "/measure/warmup_rounds").value_or(0);
  const json& seed = at_path(config, "/measure/seed");
  if (seed.is_number_integer()) settings.seed = seed.get<unsigned long>();
  settings.strict_gates = at_path(config, "/strict_gates") == true;
  settings.default_gates = default_gates_decide_in(config);
  const json& horizon = at_path(config, "/growth/horizon_rounds");
  if (horizon.is_number())
    settings.horizon_rounds = horizon.get<double>();
  else if (const auto rounds = whole_number(workload_that_ran(config), "/rounds"))
    settings.horizon_rounds = *rounds;
  std::vector<std::string> gates;
  for (const json& gate : at_path(config, "/gates")) {
    if (!gate.is_string()) {
      throw Error(ExitCode::usage, fmt::format("found {}, expected a gate", gate.dump()), "/gates");
    }
    gates.push_back(gate.get<std::string>());
  }
  name_gates(settings, gates);
  return settings;
}

void name_gates(AnalysisSettings& settings, const std::vector<std::string>& gates) {
  settings.gates.clear();
  settings.named_default_gates = false;
  for (const std::string& gate : gates) {
    if (gate == kDefaultGates)
      settings.named_default_gates = true;
    else
      settings.gates.push_back(parse_gate(gate));
  }
}

bool asks_for_default_gates(const AnalysisSettings& settings) {
  return settings.named_default_gates || settings.gates.empty();
}

bool default_gates_decide(const AnalysisSettings& settings) {
  return settings.named_default_gates || (settings.default_gates && settings.gates.empty());
}

std::vector<Gate> gates_to_judge(const RunData& run, const AnalysisSettings& settings) {
  std::vector<Gate> gates;
  if (asks_for_default_gates(settings)) gates = default_gates(run);
  gates.insert(gates.end(), settings.gates.begin(), settings.gates.end());
  return gates;
}

namespace {

/// Those that decide, as far as they are known before the run.
std::vector<Gate> expected_gates(const RunData& run, const AnalysisSettings& settings) {
  std::vector<Gate> gates = settings.gates;
  if (asks_for_default_gates(settings)) {
    const std::vector<Gate> defaults = default_gates(run.job);
    gates.insert(gates.end(), defaults.begin(), defaults.end());
  }
  std::erase_if(gates, [&](const Gate& gate) {
    return gate.advisory || is_left_out(gate, run.config, settings.warmup_rounds);
  });
  return gates;
}

}  // namespace

int gates_that_share(const RunData& run, const AnalysisSettings& settings) {
  const ExperimentView view = view_config(run.config);
  // A gate on all roles counts once: how many roles have its metric is not known before the run.
  const auto tested = std::ranges::count_if(expected_gates(run, settings), has_relative_bound);
  const auto candidates = static_cast<std::ptrdiff_t>(view.arms.size()) - 1 -
                          static_cast<std::ptrdiff_t>(view.control_arms.size()) -
                          static_cast<std::ptrdiff_t>(view.ablation_arms.size());
  return static_cast<int>(std::max<std::ptrdiff_t>(1, tested * candidates));
}

int fewest_deciding_blocks(const RunData& run, const AnalysisSettings& settings) {
  const int family = gates_that_share(run, settings);
  int blocks = exact_trials(family);
  const LookPlan looks = planned_looks(run, settings).looks;
  for (const Gate& gate : expected_gates(run, settings)) {
    if (metric_info(gate.metric).exact) continue;
    blocks = std::max(blocks, kMinimumBlocks);
    if (!has_relative_bound(gate)) continue;
    while (blocks < looks.back().blocks &&
           smallest_p(blocks, settings.design) * family > alpha_at(looks, blocks))
      ++blocks;
  }
  return std::min(blocks, looks.back().blocks);
}

CheckedLooks planned_looks(const RunData& run, const AnalysisSettings& settings) {
  // One arm alone is compared with nothing.
  if (view_config(run.config).arms.size() == 1) return {settings.looks, {}};
  return check_looks(settings.looks, gates_that_share(run, settings), settings.design);
}

}  // namespace memduel
