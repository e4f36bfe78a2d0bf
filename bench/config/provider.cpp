#include "config/provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/removed.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/json.h"
#include "util/process.h"
#include "util/text.h"

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

/// No number is a slip of the pen.
std::string advice_for_value(const json& value, const std::vector<std::string>& allowed) {
  if (!value.is_string()) return "";
  const auto text = value.get<std::string>();
  return std::string(
      replacement_for(Removed::switch_value, text).value_or(nearest_advice(text, allowed)));
}

void set_switch(json& into, const std::vector<Optimization>& switches, const std::string& name,
                const json& value, const std::string& place) {
  const auto found = std::ranges::find(switches, name, &Optimization::name);
  if (found == switches.end()) {
    throw Error(ExitCode::usage, fmt::format("found unknown switch \"{}\"", name), place,
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
              fmt::format("found {} for switch \"{}\", expected {}", value.dump(), name,
                          fmt::join(allowed, " or ")),
              place, advice_for_value(value, allowed));
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
              place,
              std::string(replacement_for(Removed::preset, name).value_or(hint(name, usable))));
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
                                 source.at("workload_kinds"), source.at("switches")});
    }
  } catch (const json::exception& error) {
    throw Error(ExitCode::usage, reason_of(error), "catalog of switches and presets");
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
    set_switch(resolved, switches, item.key(), item.value(), place + ".switches");
  }
  return resolved;
}

namespace {

using nlohmann::json;

constexpr const char* kCatalogueSchema = "memduel.catalogue/2";
constexpr const char* kRequestSchema = "memduel.expand/2";
constexpr const char* kExpansionSchema = "memduel.expanded/2";
constexpr const char* kSiteRequestSchema = "memduel.site/2";
constexpr const char* kSiteSchema = "memduel.site_has/1";
constexpr const char* kRefusalSchema = "memduel.refused/1";

std::string command_of(const Provider& provider, const std::string& word) {
  return fmt::format("{} {}", fmt::join(provider.argv, " "), word);
}

/// An answer that is not one.
[[noreturn]] void refuse(const Provider& provider, const std::string& word,
                         const std::string& what) {
  throw Error(ExitCode::usage, what, command_of(provider, word), kWhatAProviderAnswers);
}

/// A provider that knows what memduel's errors are made of has printed one.
void throw_if_refused(const json& answer) {
  const auto text = [&](const char* key) {
    const json value = answer.value(key, json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  if (!answer.is_object() || text("schema") != kRefusalSchema || text("what").empty()) return;
  ExitCode code = ExitCode::usage;
  for (const ExitCode other : {ExitCode::io, ExitCode::cannot_measure})
    if (answer.value("code", json()) == static_cast<int>(other)) code = other;
  throw Error(code, text("what"), text("where"), text("advice"));
}

json ask_for(const Provider& provider, const std::string& word, const std::string& schema,
             const json& request, const AskProvider& ask) {
  json value = ask(provider, word, request);
  if (!value.is_object()) refuse(provider, word, "found no JSON object, expected one");
  const json found = value.value("schema", json());
  if (found != schema)
    throw Error(ExitCode::usage,
                fmt::format("found the schema {}, expected \"{}\"", found.dump(), schema),
                command_of(provider, word),
                std::string(replacement_for(Removed::schema,
                                            found.is_string() ? found.get<std::string>() : "")
                                .value_or(kWhatAProviderAnswers)));
  return value;
}

void expect(const Provider& provider, const std::string& word, const json& answer,
            const std::string& key, json::value_t type) {
  const auto found = answer.find(key);
  if (found != answer.end() && found->type() == type) return;
  refuse(provider, word,
         fmt::format("found {} for \"{}\", expected {}",
                     found == answer.end() ? "nothing" : found->type_name(), key,
                     json(type).type_name()));
}

/// @param owner what has the keys: "the switch \"size\""
void refuse_removed_keys(const Provider& provider, const std::string& word,
                         const std::string& owner, const json& one) {
  if (!one.is_object()) return;
  for (const auto& item : one.items())
    if (const auto instead = replacement_for(Removed::catalogue_key, item.key()))
      throw Error(ExitCode::usage,
                  fmt::format("found the removed key \"{}\" of {}: {} (docs/providers.md)",
                              item.key(), owner, *instead),
                  command_of(provider, word));
}

json ask_for_catalogue(const Provider& provider, const AskProvider& ask) {
  const std::string word = "catalogue";
  json catalogue = ask_for(provider, word, kCatalogueSchema, nullptr, ask);
  refuse_removed_keys(provider, word, "the answer", catalogue);
  for (const auto& [list, kind] : {std::pair{"switches", "switch"}, {"presets", "preset"}})
    for (const json& one : catalogue.value(list, json())) {
      if (!one.is_object()) continue;
      const std::string owner = fmt::format("the {} {}", kind, one.value("name", json()).dump());
      refuse_removed_keys(provider, word, owner, one);
      for (const json& value : one.value("values", json()))
        refuse_removed_keys(provider, word, owner, value);
    }
  return catalogue;
}

/// A provider of several kinds says which of them a switch or a preset is for.
void keep_those_for(const std::string& kind, json& catalogue) {
  for (const auto& [list, key] :
       {std::pair{"switches", "applies_to"}, {"presets", "workload_kinds"}}) {
    json kept = json::array();
    for (json& each : catalogue[list]) {
      const json kinds = each.is_object() ? each.value(key, json()) : json();
      if (kinds.is_array() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
      if (kinds.is_array()) each.erase(key);
      kept.push_back(std::move(each));
    }
    catalogue[list] = std::move(kept);
  }
}

}  // namespace

json ask_program(const Provider& provider, const std::string& word, const json& request) {
  std::vector<std::string> argv = provider.argv;
  argv.front() = own_program(argv.front());
  argv.push_back(word);
  HelperOptions options;
  if (!request.is_null()) options.input = request.dump() + "\n";
  options.directory = provider.directory;
  const HelperResult answer = capture(argv, options);
  json value = parse_foreign_json(answer.out);
  if (answer.exit_status == 0) return value;
  throw_if_refused(value);
  const std::string said = without_line_end(valid_utf8(answer.err));
  throw Error(ExitCode::usage,
              said.empty()
                  ? fmt::format("ended with status {} and said nothing", answer.exit_status)
                  : said,
              command_of(provider, word));
}

json ask_catalogue(const Provider& provider, const AskProvider& ask) {
  const std::string word = "catalogue";
  json catalogue = ask_for_catalogue(provider, ask);
  for (const char* text : {"name", "version"})
    expect(provider, word, catalogue, text, json::value_t::string);
  for (const char* list : {"switches", "presets"}) {
    if (!catalogue.contains(list)) catalogue[list] = json::array();
    expect(provider, word, catalogue, list, json::value_t::array);
  }
  if (catalogue.contains("kinds")) {
    expect(provider, word, catalogue, "kinds", json::value_t::array);
    for (const json& kind : catalogue.at("kinds"))
      if (!kind.is_string())
        refuse(provider, word, fmt::format("found {} in \"kinds\", expected text", kind.dump()));
  }
  keep_those_for(provider.kind, catalogue);
  catalog_of(catalogue, provider);
  return catalogue;
}

Catalog ask_whole_catalogue(const Provider& provider, const AskProvider& ask) {
  const json catalogue = ask_for_catalogue(provider, ask);
  try {
    return parse_catalog(catalogue.at("switches"),
                         catalogue.at("presets").get<std::vector<json>>());
  } catch (const json::exception& error) {
    refuse(provider, "catalogue", reason_of(error));
  }
}

Catalog catalog_of(const json& catalogue, const Provider& provider) {
  json optimizations = catalogue.at("switches");
  std::vector<json> presets = catalogue.at("presets");
  const auto is_for = [&](json& each, const char* key) {
    if (each.is_object()) each[key] = json::array({provider.kind});
  };
  for (json& each : optimizations) is_for(each, "applies_to");
  for (json& each : presets) is_for(each, "workload_kinds");
  try {
    return parse_catalog(optimizations, presets);
  } catch (const Error& error) {
    throw Error(ExitCode::usage, fmt::format("{}: {}", error.where(), error.what()),
                command_of(provider, "catalogue"),
                error.advice().empty() ? kWhatAProviderAnswers : error.advice());
  }
}

json programs_of(const Provider& provider) {
  json programs = json::object();
  for (const std::string& word : provider.argv) {
    const auto path = (provider.directory / word).lexically_normal();
    std::error_code no_file;
    if (std::filesystem::is_regular_file(path, no_file))
      programs[path.string()] = sha256_hex_of_file(path);
  }
  return programs;
}

json ask_expansion(const Provider& provider, const json& request, const AskProvider& ask) {
  const std::string word = "expand";
  json asked = request;
  asked["schema"] = kRequestSchema;
  json answer = ask_for(provider, word, kExpansionSchema, asked, ask);
  refuse_removed_keys(provider, word, "the answer", answer);
  for (const json& variant : answer.value("variants", json()))
    refuse_removed_keys(provider, word, "a variant", variant);
  expect(provider, word, answer, "workload", json::value_t::object);
  for (const char* list : {"variants", "default_gates", "held_models", "groups", "meters"})
    if (list == std::string("variants") || answer.contains(list))
      expect(provider, word, answer, list, json::value_t::array);
  if (answer.contains("resolved"))
    expect(provider, word, answer, "resolved", json::value_t::object);
  return answer;
}

json ask_site(const Provider& provider, const json& request, const AskProvider& ask) {
  const std::string word = "site";
  json asked = request;
  asked["schema"] = kSiteRequestSchema;
  json answer = ask_for(provider, word, kSiteSchema, asked, ask);
  for (const char* object : {"environment", "values"})
    expect(provider, word, answer, object, json::value_t::object);
  for (const auto& item : answer.at("values").items())
    if (!item.value().is_string())
      refuse(
          provider, word,
          fmt::format("found {} for the value {}, expected text", item.value().dump(), item.key()));
  return answer;
}

json refusal_json(const Error& error) {
  return {{"schema", kRefusalSchema},
          {"code", static_cast<int>(error.code())},
          {"what", error.what()},
          {"where", error.where()},
          {"advice", error.advice()}};
}

}  // namespace memduel
