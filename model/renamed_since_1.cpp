#include "model/renamed_since_1.h"

#include <algorithm>
#include <array>

#include "model/metric_catalogue.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr std::array kNames = {
    RenamedName{NameOf::role, "tree", kTree},
    RenamedName{NameOf::metric, "heap_held_free_bytes", kHeapHeldFree},
    RenamedName{NameOf::note, "arms_have_equal_contents", "variants_have_equal_contents"},
    RenamedName{NameOf::note, "metric_in_one_arm_only", "metric_in_one_variant_only"},
    RenamedName{NameOf::note, "tracer_missing", "profiler_missing"},
    RenamedName{NameOf::note, "tracer_replaces_allocator", "profiler_replaces_allocator"},
    RenamedName{NameOf::note, "share_missing", "shard_missing"},
    RenamedName{NameOf::owner, "pinned", "fragmentation"},
    RenamedName{NameOf::owner, "held", "free"},
    RenamedName{NameOf::owner, "mapping", "mapped"},
    RenamedName{NameOf::owner, "unexplained", "other"},
    RenamedName{NameOf::gate_outcome, "undecided", "inconclusive"},
    RenamedName{NameOf::growth_verdict, "settling", "leveling_off"},
    RenamedName{NameOf::switch_effect, "cannot_tell", "inconclusive"},
};

/// A key of the objects at a place: names, and `*` for every element or member. Inner places come
/// before the outer ones, whose keys lead to them.
struct RenamedKey {
  std::string_view place;
  std::string_view was;
  std::string_view is;
};

constexpr std::array kKeysOfResults = {
    RenamedKey{"arms/*", "optimizations", "switches"},
    RenamedKey{"trials/*", "arm", "variant"},
    RenamedKey{"trials/*", "tracer", "profiler"},
    RenamedKey{"comparisons/*", "exact", "identical"},
    RenamedKey{"comparisons/*", "smallest_detectable", "minimum_detectable"},
    RenamedKey{"growth/*", "arm", "variant"},
    RenamedKey{"perturbation/*", "arm", "variant"},
    RenamedKey{"perturbation/*", "tracer", "profiler"},
    RenamedKey{"ablation/*/*", "arm", "variant"},
    RenamedKey{"ablation/*", "optimization", "switch"},
    RenamedKey{"ablation/*", "left_out", "removed_alone"},
    RenamedKey{"ablation_totals/*/whole", "arm", "variant"},
    RenamedKey{"ablation_totals/*", "left_out", "removed_alone"},
    RenamedKey{"differences/*", "blocks", "allocations"},
    RenamedKey{"resident/*", "arm", "variant"},
    RenamedKey{"", "arms", "variants"},
};

constexpr std::array kKeysOfEnvironments = {
    RenamedKey{"shares/*", "share", "shard"},
    RenamedKey{"", "share", "shard"},
    RenamedKey{"", "shares", "shards"},
};

constexpr std::array kKeysOfConfigs = {
    RenamedKey{"arms/*/matrix/*/*", "optimizations", "switches"},
    RenamedKey{"arms/*", "optimizations", "switches"},
    RenamedKey{"", "arms", "variants"},
    RenamedKey{"profile", "tracers", "profilers"},
    RenamedKey{"ablation/switches/*/*", "arm", "variant"},
    RenamedKey{"ablation/switches/*", "left_out", "removed_alone"},
    RenamedKey{"expanded/arms/*", "optimizations", "switches"},
    RenamedKey{"expanded", "arms", "variants"},
    RenamedKey{"expanded/catalogue/presets/*", "optimizations", "switches"},
    RenamedKey{"expanded/catalogue", "optimizations", "switches"},
};

constexpr std::array kKeysOfCalibrations = {
    RenamedKey{"metrics/*", "smallest_detectable", "minimum_detectable"},
    RenamedKey{"metrics/*", "duels", "comparisons"},
    RenamedKey{"", "blocks_per_duel", "blocks_per_comparison"},
};

/// Where a document has names; the places are those before its keys are renamed.
struct PlaceOfNames {
  std::string_view place;
  NameOf of;
};

constexpr std::array kNamesInResults = {
    PlaceOfNames{"trials/*/roles/*/role", NameOf::role},
    PlaceOfNames{"comparisons/*/role", NameOf::role},
    PlaceOfNames{"comparisons/*/metric", NameOf::metric},
    PlaceOfNames{"growth/*/role", NameOf::role},
    PlaceOfNames{"growth/*/verdict", NameOf::growth_verdict},
    PlaceOfNames{"gates/*/role", NameOf::role},
    PlaceOfNames{"gates/*/metric", NameOf::metric},
    PlaceOfNames{"gates/*/outcome", NameOf::gate_outcome},
    PlaceOfNames{"lower_bounds/*/role", NameOf::role},
    PlaceOfNames{"lower_bounds/*/metric", NameOf::metric},
    PlaceOfNames{"ablation/*/role", NameOf::role},
    PlaceOfNames{"ablation/*/metric", NameOf::metric},
    PlaceOfNames{"ablation/*/effect", NameOf::switch_effect},
    PlaceOfNames{"ablation_totals/*/role", NameOf::role},
    PlaceOfNames{"ablation_totals/*/metric", NameOf::metric},
    PlaceOfNames{"differences/*/role", NameOf::role},
    PlaceOfNames{"differences/*/heap", NameOf::owner},
    PlaceOfNames{"difference_totals/*/role", NameOf::role},
    PlaceOfNames{"difference_totals/*/heap", NameOf::owner},
    PlaceOfNames{"resident/*/role", NameOf::role},
    PlaceOfNames{"resident/*/owners/*/owner", NameOf::owner},
    PlaceOfNames{"first_screen/rows/*/role", NameOf::role},
    PlaceOfNames{"first_screen/rows/*/metric", NameOf::metric},
    PlaceOfNames{"first_screen/rows/*/causes/*/memory", NameOf::owner},
    PlaceOfNames{"limitations/*/code", NameOf::note},
    PlaceOfNames{"warnings/*/code", NameOf::note},
};

constexpr std::array kNamesInJobs = {
    PlaceOfNames{"default_gates/*/role", NameOf::role},
    PlaceOfNames{"default_gates/*/metric", NameOf::metric},
    PlaceOfNames{"held_models/*/role", NameOf::role},
    PlaceOfNames{"held_models/*/metric", NameOf::metric},
};

constexpr std::array kNamesInCalibrations = {
    PlaceOfNames{"metrics/*/role", NameOf::role},
    PlaceOfNames{"metrics/*/metric", NameOf::metric},
};

/// Dictionaries by metric.
constexpr std::array<std::string_view, 5> kMetricsInResults = {
    "trials/*/roles/*/metrics", "trials/*/roles/*/rounds/*/metrics",
    "trials/*/roles/*/rounds/*/phases/*/metrics", "equivalence/*/metrics", "job/better"};

template <typename Visit>
void for_each_at(json& value, std::string_view place, const Visit& visit) {
  if (place.empty()) return visit(value);
  const std::size_t slash = place.find('/');
  const std::string name(place.substr(0, slash));
  const std::string_view rest = slash == std::string_view::npos ? "" : place.substr(slash + 1);
  if (name == "*") {
    if (value.is_structured())
      for (json& one : value) for_each_at(one, rest, visit);
  } else if (value.is_object()) {
    if (const auto found = value.find(name); found != value.end()) for_each_at(*found, rest, visit);
  }
}

void rename_key(json& object, std::string_view was, std::string_view is) {
  if (!object.is_object()) return;
  const auto found = object.find(was);
  if (found == object.end() || object.contains(is)) return;
  json value = std::move(*found);
  object.erase(found);
  object[std::string(is)] = std::move(value);
}

void rename_keys(json& document, std::span<const RenamedKey> keys) {
  for (const RenamedKey& key : keys)
    for_each_at(document, key.place, [&](json& object) { rename_key(object, key.was, key.is); });
}

void translate_name(json& name, NameOf of) {
  if (name.is_string()) name = current_name(of, name.get_ref<const std::string&>());
}

void translate_names(json& document, std::span<const PlaceOfNames> places, bool roles = true) {
  for (const PlaceOfNames& place : places)
    if (roles || place.of != NameOf::role)
      for_each_at(document, place.place, [&](json& name) { translate_name(name, place.of); });
}

void translate_gates(json& document, std::string_view place) {
  for_each_at(document, place, [](json& gate) {
    if (gate.is_string()) gate = current_gate(gate.get_ref<const std::string&>());
  });
}

/// The stack of resident memory begins with its owner.
void translate_owners(json& difference) {
  if (!difference.is_object() || difference.value("kind", json()) != "resident") return;
  for_each_at(difference, "stack", [](json& stack) {
    if (stack.is_array() && !stack.empty()) translate_name(stack.front(), NameOf::owner);
  });
}

/// Of results of processes, not of Google Benchmark's.
bool has_all_processes(json& results) {
  bool found = false;
  for_each_at(results, "trials/*/roles/*/role", [&](json& role) { found |= role == "tree"; });
  return found;
}

bool has_process(const json& results, std::string_view role) {
  static const json::json_pointer kRoles("/job/roles");
  if (!results.is_object() || !results.contains(kRoles)) return false;
  const json& roles = results.at(kRoles);
  return roles.is_array() && std::ranges::find(roles, json(role)) != roles.end();
}

}  // namespace

std::span<const RenamedName> renamed_names() {
  return kNames;
}

std::string_view current_name(NameOf of, std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kNames, [&](const RenamedName& one) { return one.of == of && one.was == name; });
  return found == kNames.end() ? name : found->is;
}

std::optional<std::string_view> new_name_of_key(std::string_view name) {
  const auto* const found = std::ranges::find(kKeysOfConfigs, name, &RenamedKey::was);
  if (found == kKeysOfConfigs.end()) return std::nullopt;
  return found->is;
}

std::string current_gate(std::string_view gate) {
  const std::string_view name = gate.substr(0, gate.find("<="));
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::string(gate);
  std::string text(current_name(NameOf::role, name.substr(0, dot)));
  text += '.';
  text += current_name(NameOf::metric, name.substr(dot + 1));
  return text.append(gate.substr(name.size()));
}

void translate_results_1(json& results, const std::string& where) {
  // A benchmark of Google Benchmark may have either name.
  const bool is_process = has_process(results, "tree");
  if (!is_process && has_process(results, kTree) && has_all_processes(results))
    refuse_process_called_all(where);
  for_each_at(results, "differences/*", translate_owners);
  for (const std::string_view place : kMetricsInResults)
    for_each_at(results, place, [](json& metrics) {
      for (const RenamedName& one : kNames)
        if (one.of == NameOf::metric) rename_key(metrics, one.was, one.is);
    });
  translate_names(results, kNamesInResults, !is_process);
  if (!is_process) translate_gates(results, "gates/*/gate");
  for_each_at(results, "job", translate_job_1);
  for_each_at(results, "environment", translate_environment_1);
  rename_keys(results, kKeysOfResults);
}

void translate_calibration_1(json& calibration) {
  translate_names(calibration, kNamesInCalibrations);
  rename_keys(calibration, kKeysOfCalibrations);
}

void translate_config_1(json& config) {
  translate_gates(config, "gates/*");
  for_each_at(config, "expanded", translate_job_1);
  for_each_at(config, "provider", [](json& provider) {
    if (provider.is_array() && !provider.empty() && provider.front() == "memduel-laboratory")
      provider.front() = "memduel-fl";
  });
  rename_keys(config, kKeysOfConfigs);
}

void translate_job_1(json& job) {
  translate_names(job, kNamesInJobs);
}

void translate_environment_1(json& environment) {
  rename_keys(environment, kKeysOfEnvironments);
}

void refuse_process_called_all(const std::string& where) {
  throw Error(ExitCode::io,
              "a process has the role \"all\", which stands for all processes since schema 2",
              where, "read it with the memduel version that wrote it");
}

}  // namespace memduel
