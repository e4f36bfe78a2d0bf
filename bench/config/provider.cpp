#include "config/provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/removed.h"
#include "provider_answers.h"
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

std::string plain(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Of the kinds that a switch or a preset is for.
bool are_for(const std::vector<std::string>& kinds, const std::string& kind) {
  return kinds.empty() || kind.empty() || std::ranges::find(kinds, kind) != kinds.end();
}

/// The switches that apply to a workload kind.
std::vector<Optimization> switches_for(const Catalog& catalog, const std::string& kind) {
  std::vector<Optimization> result;
  for (const Optimization& one : catalog.optimizations) {
    if (are_for(one.applies_to, kind)) result.push_back(one);
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
              fmt::format("expected {2}, found {0} for switch \"{1}\"", value.dump(), name,
                          fmt::join(allowed, " or ")),
              place, advice_for_value(value, allowed));
}

const Preset& find_preset(const Catalog& catalog, const std::string& kind, const std::string& name,
                          const std::string& place) {
  std::vector<std::string> usable;
  for (const Preset& preset : catalog.presets) {
    if (!are_for(preset.workload_kinds, kind)) continue;
    if (preset.name == name) return preset;
    usable.push_back(preset.name);
  }
  throw Error(ExitCode::usage,
              fmt::format("found unknown preset \"{}\" for workloads of kind {}", name, kind),
              place,
              std::string(replacement_for(Removed::preset, name).value_or(hint(name, usable))));
}

/// What a catalogue said of switches that do not run together.
template <typename S>
Keys<S>& without_conditions(Keys<S>& keys) {
  constexpr const char* kRefuse = "refuse the variant in expand";
  return keys.removed("matters_with", "name the switch in \"idle\" of a variant")
      .removed("works_only_with", kRefuse)
      .removed("at_most", kRefuse);
}

constexpr const char* kSwitches = "it was renamed: \"switches\"";
const Schema kSome = {{"minItems", 1}};

}  // namespace

const Keys<OptimizationValue>& keys_of(const OptimizationValue*) {
  static const Keys<OptimizationValue> keys = [] {
    auto made = Keys<OptimizationValue>("switch_value", kMoreKeys)
                    .required("value", &OptimizationValue::value, "",
                              {{"type", {"string", "number", "boolean"}}})
                    .required("summary", &OptimizationValue::summary, "");
    return without_conditions(made);
  }();
  return keys;
}

const Keys<Optimization>& keys_of(const Optimization*) {
  static const Keys<Optimization> keys = [] {
    auto made = Keys<Optimization>("switch", kMoreKeys)
                    .required("name", &Optimization::name, "")
                    .required("summary", &Optimization::summary, "")
                    .required("values", &Optimization::values, "", kSome)
                    .optional("applies_to", &Optimization::applies_to, "", kSome)
                    .optional("whole_numbers_from", &Optimization::whole_numbers_from, "")
                    .optional("whole_numbers_to", &Optimization::whole_numbers_to, "");
    return without_conditions(made);
  }();
  return keys;
}

const Keys<Preset>& keys_of(const Preset*) {
  static const Keys<Preset> keys =
      Keys<Preset>("preset", kMoreKeys)
          .required("name", &Preset::name, "")
          .required("summary", &Preset::summary, "")
          .optional("workload_kinds", &Preset::workload_kinds, "", kSome)
          .required("switches", &Preset::optimizations, "")
          .removed("optimizations", kSwitches);
  return keys;
}

const Keys<Catalog>& keys_of(const Catalog*) {
  static const Keys<Catalog> keys = Keys<Catalog>("catalogue", kMoreKeys)
                                        .required("name", &Catalog::name, "")
                                        .required("version", &Catalog::version, "")
                                        .optional("kinds", &Catalog::kinds, "")
                                        .optional("site", &Catalog::has_site, "")
                                        .optional("switches", &Catalog::optimizations, "")
                                        .optional("presets", &Catalog::presets, "")
                                        .removed("optimizations", kSwitches);
  return keys;
}

Catalog parse_catalog(const json& answer, const std::string& origin) {
  auto catalog = read_answer<Catalog>(answer, origin);
  for (std::size_t i = 0; i < catalog.presets.size(); ++i) {
    const Preset& preset = catalog.presets[i];
    const std::string place = json_place(origin, {"presets", std::to_string(i)});
    const std::vector<std::string> any = {""};
    for (const std::string& kind : preset.workload_kinds.empty() ? any : preset.workload_kinds)
      resolve_optimizations(catalog, kind, std::nullopt, preset.optimizations, place);
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
    set_switch(resolved, switches, item.key(), item.value(), place + ".switches." + item.key());
  }
  return resolved;
}

namespace {

constexpr const char* kCatalogue = "catalogue";
constexpr const char* kCatalogueSchema = "memduel.catalogue/2";
constexpr const char* kSiteRequestSchema = "memduel.site/2";
constexpr const char* kSiteSchema = "memduel.site_has/1";
constexpr const char* kRefusalSchema = "memduel.refused/1";

/// What memduel's errors are made of.
struct Refusal {
  int code = static_cast<int>(ExitCode::usage);
  std::string what;
  std::optional<std::string> where;
  std::optional<std::string> advice;
};

const Schema kTextOrNull = {{"type", {"string", "null"}}};

const Keys<Refusal>& keys_of(const Refusal*) {
  static const Keys<Refusal> keys = Keys<Refusal>("refusal", kMoreKeys)
                                        .optional("code", &Refusal::code, "")
                                        .required("what", &Refusal::what, "", {{"minLength", 1}})
                                        .optional("where", &Refusal::where, "", kTextOrNull)
                                        .optional("advice", &Refusal::advice, "", kTextOrNull);
  return keys;
}

/// A provider that knows what memduel's errors are made of has printed one.
void throw_if_refused(const json& answer, const std::string& command) {
  if (!answer.is_object() || answer.value("schema", json()) != kRefusalSchema) return;
  const auto refusal = read_answer<Refusal>(answer, command);
  ExitCode code = ExitCode::usage;
  for (const ExitCode other : {ExitCode::io, ExitCode::cannot_measure})
    if (refusal.code == static_cast<int>(other)) code = other;
  throw Error(code, refusal.what, refusal.where.value_or(""), refusal.advice.value_or(""));
}

struct SiteAnswer {
  json environment;
  std::map<std::string, std::string> values;
};

const Keys<SiteAnswer>& keys_of(const SiteAnswer*) {
  static const Keys<SiteAnswer> keys =
      Keys<SiteAnswer>("site", kMoreKeys)
          .required("environment", &SiteAnswer::environment, "", {{"type", "object"}})
          .required("values", &SiteAnswer::values, "");
  return keys;
}

/// A provider of several kinds says which of them a switch or a preset is for.
void keep_those_for(const std::string& kind, json& catalogue) {
  for (const auto& [list, key] :
       {std::pair{"switches", "applies_to"}, {"presets", "workload_kinds"}}) {
    json kept = json::array();
    for (json& each : catalogue[list]) {
      if (!are_for(each.value(key, std::vector<std::string>()), kind)) continue;
      each.erase(key);
      kept.push_back(std::move(each));
    }
    catalogue[list] = std::move(kept);
  }
}

}  // namespace

std::string command_of(const Provider& provider, const std::string& word) {
  return fmt::format("{} {}", fmt::join(provider.argv, " "), word);
}

json ask_for(const Provider& provider, const std::string& word, const char* schema,
             const json& request, const AskProvider& ask) {
  json value = ask(provider, word, request);
  const std::string command = command_of(provider, word);
  if (!value.is_object())
    throw Error(ExitCode::usage, "expected a JSON object, found none", command,
                kWhatAProviderAnswers);
  const json found = value.value("schema", json());
  if (found != schema)
    throw Error(ExitCode::usage,
                fmt::format("expected the schema \"{1}\", found {0}", found.dump(), schema),
                command,
                std::string(replacement_for(Removed::schema,
                                            found.is_string() ? found.get<std::string>() : "")
                                .value_or(kWhatAProviderAnswers)));
  return value;
}

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
  throw_if_refused(value, command_of(provider, word));
  const std::string said = without_line_end(valid_utf8(answer.err));
  throw Error(
      ExitCode::usage,
      said.empty() ? fmt::format("ended with status {} without output", answer.exit_status) : said,
      command_of(provider, word));
}

json ask_catalogue(const Provider& provider, const AskProvider& ask) {
  json catalogue = ask_for(provider, kCatalogue, kCatalogueSchema, nullptr, ask);
  catalog_of(catalogue, provider);
  keep_those_for(provider.kind, catalogue);
  return catalogue;
}

Catalog ask_whole_catalogue(const Provider& provider, const AskProvider& ask) {
  return catalog_of(ask_for(provider, kCatalogue, kCatalogueSchema, nullptr, ask), provider);
}

Catalog catalog_of(const json& catalogue, const Provider& provider) {
  return parse_catalog(catalogue, command_of(provider, kCatalogue));
}

std::map<std::string, std::string> programs_of(const Provider& provider) {
  std::map<std::string, std::string> programs;
  for (const std::string& word : provider.argv) {
    const auto path = (provider.directory / word).lexically_normal();
    std::error_code no_file;
    if (std::filesystem::is_regular_file(path, no_file))
      programs[path.string()] = sha256_hex_of_file(path);
  }
  return programs;
}

json ask_site(const Provider& provider, const json& request, const AskProvider& ask) {
  const std::string word = "site";
  json asked = request;
  asked["schema"] = kSiteRequestSchema;
  json answer = ask_for(provider, word, kSiteSchema, asked, ask);
  read_answer<SiteAnswer>(answer, command_of(provider, word));
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
