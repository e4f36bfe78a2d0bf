#include "laboratory/catalogue.h"

#include "base/embedded_files.h"
#include "laboratory/replay_workload.h"
#include "version.h"

namespace memduel {

using nlohmann::json;

json laboratory_catalogue() {
  json presets = json::array();
  for (const EmbeddedFile& file : laboratory_files())
    if (file.name.starts_with("presets/")) presets.push_back(json::parse(file.text));
  return {{"schema", "memduel.catalogue/1"},
          {"name", "laboratory"},
          {"version", kVersion},
          {"site", true},
          {"kinds", laboratory_schema()["definitions"]["workload"]["properties"]["kind"]["enum"]},
          {"optimizations", json::parse(embedded_file(laboratory_files(), "optimizations.json"))},
          {"presets", std::move(presets)}};
}

const Catalog& laboratory_catalog() {
  static const Catalog catalog = [] {
    const json all = laboratory_catalogue();
    return parse_catalog(all.at("optimizations"), all.at("presets").get<std::vector<json>>());
  }();
  return catalog;
}

}  // namespace memduel
