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

std::vector<Condition> conditions_from_json(const json& source, const char* key) {
  std::vector<Condition> conditions;
  const json object = source.value(key, json::object());
  for (const auto& item : object.items()) conditions.push_back({item.key(), item.value()});
  return conditions;
}

Optimization optimization_from_json(const json& source) {
  Optimization optimization{
      source.at("name"), source.at("summary"), {}, source.at("applies_to"), {}, {}};
  for (const json& value : source.at("values")) {
    optimization.values.push_back(
        {value.at("value"), value.at("summary"), conditions_from_json(value, "works_only_with")});
  }
  if (optimization.values.empty()) {
    throw Error(ExitCode::usage, "the switch has no values", optimization.name);
  }
  if (source.contains("whole_numbers_from"))
    optimization.whole_numbers_from = source.at("whole_numbers_from");
  if (source.contains("whole_numbers_to"))
    optimization.whole_numbers_to = source.at("whole_numbers_to");
  if (source.contains("at_most"))
    optimization.at_most =
        Ceiling{source.at("at_most").at("setting"), source.at("at_most").at("less")};
  optimization.matters_with = conditions_from_json(source, "matters_with");
  optimization.works_only_with = conditions_from_json(source, "works_only_with");
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

/// A condition that nothing can meet would silence its switch for ever.
void refuse_impossible(const std::vector<Condition>& conditions,
                       const std::vector<Optimization>& optimizations, const std::string& place) {
  for (const Condition& condition : conditions) {
    if (condition.setting.starts_with("workload.")) continue;
    json ignored = json::object();
    for (const json& value : condition.values)
      set_switch(ignored, optimizations, condition.setting, value, place);
  }
}

std::string in_words(const std::string& setting, const json& value) {
  return fmt::format("{}={}", setting, plain(value));
}

/// Null where there is no such setting.
const json* find_setting(const ArmSettings& settings, const std::string& setting) {
  constexpr std::string_view kWorkload = "workload.";
  if (!setting.starts_with(kWorkload)) {
    const auto found = settings.optimizations.find(setting);
    return found == settings.optimizations.end() ? nullptr : &*found;
  }
  std::string path = setting.substr(kWorkload.size() - 1);
  std::ranges::replace(path, '.', '/');
  const json::json_pointer pointer(path);
  return settings.workload.contains(pointer) ? &settings.workload.at(pointer) : nullptr;
}

/// What one of the switch's values needs.
std::vector<Condition> conditions_of(const Optimization& one, const json& value) {
  const auto found =
      std::ranges::find_if(one.values, [&](const auto& each) { return each.value == value; });
  return found == one.values.end() ? std::vector<Condition>{} : found->works_only_with;
}

/// The bound that a number of the switch exceeds; absent where none does.
std::optional<Clash> find_excess(const Optimization& one, const json& value,
                                 const ArmSettings& settings, const json& own) {
  if (!one.at_most || !value.is_number_integer()) return std::nullopt;
  const std::string& bounding = one.at_most->setting;
  const json* bound = find_setting(settings, bounding);
  if (bound == nullptr) return std::nullopt;
  const std::int64_t most = bound->get<std::int64_t>() - one.at_most->less;
  const auto number = value.get<std::int64_t>();
  if (number <= most) return std::nullopt;
  if (own.contains(bounding) && !own.contains(one.name))
    return Clash{in_words(bounding, *bound),
                 {in_words(one.name, value),
                  fmt::format("{} of at least {}", bounding, number + one.at_most->less)}};
  return Clash{in_words(one.name, value),
               {in_words(bounding, *bound), fmt::format("{} of at most {}", one.name, most)}};
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
  for (const Optimization& one : catalog.optimizations) {
    refuse_impossible(one.matters_with, catalog.optimizations, "matters_with of " + one.name);
    const std::string works_with = "works_only_with of ";
    refuse_impossible(one.works_only_with, catalog.optimizations, works_with + one.name);
    for (const OptimizationValue& value : one.values)
      refuse_impossible(value.works_only_with, catalog.optimizations,
                        works_with + in_words(one.name, value.value));
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

std::optional<Unmet> find_unmet(const std::vector<Condition>& conditions,
                                const ArmSettings& settings) {
  for (const Condition& condition : conditions) {
    const json* value = find_setting(settings, condition.setting);
    if (value != nullptr && std::ranges::find(condition.values, *value) != condition.values.end())
      continue;
    std::vector<std::string> wanted;
    for (const json& one : condition.values) wanted.push_back(plain(one));
    return Unmet{value != nullptr ? in_words(condition.setting, *value) : "no " + condition.setting,
                 fmt::format("{}={}", condition.setting, fmt::join(wanted, " or "))};
  }
  return std::nullopt;
}

std::optional<Clash> find_clash(const Catalog& catalog, const ArmSettings& settings,
                                const json& own) {
  for (const Optimization& one : catalog.optimizations) {
    const json* value = find_setting(settings, one.name);
    if (value == nullptr) continue;
    if (auto excess = find_excess(one, *value, settings, own)) return excess;
    if (*value == one.values.front().value) continue;
    auto unmet = find_unmet(one.works_only_with, settings);
    if (!unmet) unmet = find_unmet(conditions_of(one, *value), settings);
    if (unmet) return Clash{in_words(one.name, *value), *unmet};
  }
  return std::nullopt;
}

}  // namespace memduel
