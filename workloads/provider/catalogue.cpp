#include "catalogue.h"

#include <fmt/format.h>

#include "config/config_json.h"
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
              fmt::format("found {} for model \"{}\", expected 0", bytes->dump(), model),
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
                fmt::format("found {}, expected at most clients, {}", selected, clients),
                json_place(origin, {"workload", "clients_per_round"}));
  throw Error(ExitCode::usage,
              fmt::format("found {}, expected at least clients_per_round, {}", clients, selected),
              json_place(origin, {"workload", "clients"}),
              "set clients_per_round, too: that is its default");
}

}  // namespace

const json& fl_schema() {
  static const json schema = json::parse(embedded_file(fl_files(), "schema/fl.schema.json"));
  return schema;
}

json resolve_replay_workload(json workload, const std::string& origin) {
  // The rest of an experiment is memduel's, and judged by now.
  json schema = fl_schema();
  schema.erase("allOf");
  json document = {{"workload", std::move(workload)}};
  validate_against_schema(document, schema, origin);
  const bool selection_given = document["workload"].contains("clients_per_round");
  json resolved = with_schema_defaults(std::move(document), schema).at("workload");
  refuse_scaled_network(resolved, origin);
  refuse_selection_of_more(resolved, selection_given, origin);
  return resolved;
}

using nlohmann::json;

json fl_catalogue() {
  json presets = json::array();
  for (const EmbeddedFile& file : fl_files())
    if (file.name.starts_with("presets/")) presets.push_back(json::parse(file.text));
  return {{"schema", "memduel.catalogue/2"},
          {"name", "fl"},
          {"version", kVersion},
          {"site", true},
          {"kinds", fl_schema()["definitions"]["workload"]["properties"]["kind"]["enum"]},
          {"switches", json::parse(embedded_file(fl_files(), "switches.json"))},
          {"presets", std::move(presets)}};
}

const Catalog& fl_catalog() {
  static const Catalog catalog = [] {
    const json all = fl_catalogue();
    return parse_catalog(all.at("switches"), all.at("presets").get<std::vector<json>>());
  }();
  return catalog;
}

}  // namespace memduel
