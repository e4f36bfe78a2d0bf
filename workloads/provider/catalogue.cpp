#include "catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "fl/workload_keys.h"
#include "model/places.h"
#include "util/error.h"
#include "util/file.h"
#include "version.h"

namespace memduel {
namespace {

using nlohmann::json;

/// A network has the size that it has.
void refuse_scaled_network(const json& workload, const std::string& origin) {
  const std::string model = workload.at("model");
  if (model == "llama-3.1-8b" || model == "tensors") return;
  const auto bytes = workload.find("state_bytes");
  if (bytes == workload.end() || *bytes == 0) return;
  throw Error(ExitCode::usage,
              fmt::format("expected 0, found {0} for model \"{1}\"", bytes->dump(), model),
              json_place(origin, {"workload", "state_bytes"}),
              "only a table of shapes can be scaled: llama-3.1-8b, tensors");
}

/// Of a simulation. @param given clients_per_round is the config's own, not the default.
void refuse_selection_of_more(const json& workload, bool given, const std::string& origin) {
  if (!workload.contains("clients_per_round")) return;
  const int clients = workload.at("clients");
  const int selected = workload.at("clients_per_round");
  if (selected <= clients) return;
  if (given)
    throw Error(ExitCode::usage,
                fmt::format("expected at most clients, {1}, found {0}", selected, clients),
                json_place(origin, {"workload", "clients_per_round"}));
  throw Error(ExitCode::usage,
              fmt::format("expected at least clients_per_round, {1}, found {0}", clients, selected),
              json_place(origin, {"workload", "clients"}),
              "also set clients_per_round; this is its default");
}

}  // namespace

json resolve_replay_workload(const json& workload, const std::string& origin) {
  json resolved = resolve_workload(workload, Places(origin));
  refuse_scaled_network(resolved, origin);
  refuse_selection_of_more(resolved, workload.contains("clients_per_round"), origin);
  return resolved;
}

const json& fl_switches() {
  static const json table = json::parse(embedded_file(fl_files(), "switches.json"));
  return table;
}

namespace {

const json& preset_named(const json& name) {
  const json& presets = fl_switches().at("presets");
  return *std::ranges::find(presets, name, [](const json& one) { return one.at("name"); });
}

/// A preset states what differs from its base, whose base may be another.
json with_base(json preset) {
  while (preset.contains("base")) {
    const json& base = preset_named(preset.at("base"));
    json switches = base.at("switches");
    switches.update(preset.at("switches"));
    preset["switches"] = std::move(switches);
    preset.erase("base");
    if (base.contains("base")) preset["base"] = base.at("base");
  }
  return preset;
}

}  // namespace

json fl_catalogue() {
  json switches = fl_switches().at("switches");
  for (json& one : switches) {  // what they need is the provider's to judge
    one.erase("matters_with");
    one.erase("changes_run_with");
    for (json& value : one["values"]) value.erase("runs_with");
  }
  json presets = json::array();
  for (const json& preset : fl_switches().at("presets")) presets.push_back(with_base(preset));
  return {{"schema", "memduel.catalogue/2"},
          {"name", "fl"},
          {"version", kVersion},
          {"site", true},
          {"kinds", workload_kinds()},
          {"switches", std::move(switches)},
          {"presets", std::move(presets)}};
}

const Catalog& fl_catalog() {
  static const Catalog catalog = parse_catalog(fl_catalogue(), "catalogue of memduel-fl");
  return catalog;
}

}  // namespace memduel
