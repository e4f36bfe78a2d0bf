#include "experiment/config/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/json_reason.h"
#include "base/text.h"

namespace memduel {
namespace {

using nlohmann::json;

template <typename Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.name);
  return names;
}

/// "did you mean …?", or the whole list where nothing is near.
std::string hint(const std::string& word, const std::vector<std::string>& names) {
  return nearest_advice(word, names, fmt::format("expected {}", fmt::join(names, ", ")));
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

std::string plain(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Optimization optimization_from_json(const json& source) {
  Optimization optimization{source.at("name"), source.at("summary"), {}, source.at("applies_to")};
  for (const json& value : source.at("values")) {
    optimization.values.push_back({value.at("value"), value.at("summary")});
  }
  if (optimization.values.empty()) {
    throw Error(ExitCode::usage, "the switch has no values", optimization.name);
  }
  if (source.contains("whole_numbers_from"))
    optimization.whole_numbers_from = source.at("whole_numbers_from");
  if (source.contains("whole_numbers_to"))
    optimization.whole_numbers_to = source.at("whole_numbers_to");
  return optimization;
}

/// The switches that apply to a workload kind.
std::vector<Optimization> switches_for(const Catalog& catalog, const std::string& kind) {
  std::vector<Optimization> result;
  for (const Optimization& one : catalog.optimizations) {
    if (has(one.applies_to, kind)) result.push_back(one);
  }
  return result;
}

void set_switch(json& into, const std::vector<Optimization>& switches, const std::string& name,
                const json& value, const std::string& place) {
  const auto found = std::ranges::find(switches, name, &Optimization::name);
  if (found == switches.end()) {
    throw Error(ExitCode::usage, fmt::format("found unknown optimization \"{}\"", name), place,
                hint(name, names_of(switches)));
  }
  std::vector<std::string> allowed;
  for (const OptimizationValue& one : found->values) {
    if (one.value == value) {
      into[name] = value;
      return;
    }
    allowed.push_back(plain(one.value));
  }
  if (found->whole_numbers_from) {
    const std::int64_t from = *found->whole_numbers_from;
    const auto to = found->whole_numbers_to;
    if (value.is_number_integer() && value.get<std::int64_t>() >= from &&
        value.get<std::int64_t>() <= to.value_or(INT64_MAX)) {
      into[name] = value;
      return;
    }
    allowed.push_back(to ? fmt::format("a whole number from {} to {}", from, *to)
                         : fmt::format("a whole number from {}", from));
  }
  throw Error(ExitCode::usage,
              fmt::format("found {} for optimization \"{}\", expected {}", value.dump(), name,
                          fmt::join(allowed, " or ")),
              place,  // no number is a slip of the pen
              value.is_string() ? nearest_advice(plain(value), allowed) : "");
}

const Preset& find_preset(const Catalog& catalog, const std::string& kind, const std::string& name,
                          const std::string& place) {
  std::vector<std::string> usable;
  for (const Preset& preset : catalog.presets) {
    if (!has(preset.workload_kinds, kind)) continue;
    if (preset.name == name) return preset;
    usable.push_back(preset.name);
  }
  throw Error(ExitCode::usage,
              fmt::format("found unknown preset \"{}\" for workloads of kind {}", name, kind),
              place, hint(name, usable));
}

}  // namespace

Catalog parse_catalog(const json& optimizations, const std::vector<json>& presets) {
  Catalog catalog;
  try {
    for (const json& source : optimizations) {
      catalog.optimizations.push_back(optimization_from_json(source));
    }
    for (const json& source : presets) {
      catalog.presets.push_back({source.at("name"), source.at("summary"),
                                 source.at("workload_kinds"), source.at("optimizations")});
    }
  } catch (const json::exception& error) {
    throw Error(ExitCode::usage, reason_of(error), "catalog of optimizations and presets");
  }
  for (const Preset& preset : catalog.presets) {
    for (const std::string& kind : preset.workload_kinds) {
      resolve_optimizations(catalog, kind, preset.name, json::object(), "preset " + preset.name);
    }
  }
  return catalog;
}

json resolve_optimizations(const Catalog& catalog, const std::string& workload_kind,
                           const std::optional<std::string>& preset, const json& overrides,
                           const std::string& place) {
  const auto switches = switches_for(catalog, workload_kind);
  json resolved = json::object();
  for (const Optimization& one : switches) resolved[one.name] = one.values.front().value;
  if (preset) {
    for (const auto& [name, value] :
         find_preset(catalog, workload_kind, *preset, place + ".preset").optimizations) {
      set_switch(resolved, switches, name, value, place + ".preset");
    }
  }
  for (const auto& item : overrides.items()) {
    set_switch(resolved, switches, item.key(), item.value(), place + ".optimizations");
  }
  return resolved;
}

}  // namespace memduel
