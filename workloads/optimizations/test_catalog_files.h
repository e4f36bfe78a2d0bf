// For tests: the catalog of switches and the presets as they lie in configs/.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "workloads/test_folders.h"

namespace memduel {

inline nlohmann::json read_config(const std::string& name) {
  return nlohmann::json::parse(read_file(kConfigsFolder + ("/" + name)));
}

inline nlohmann::json preset_values(const std::string& name) {
  return read_config("presets/" + name + ".json").at("optimizations");
}

/// The catalog's switches that apply to a kind of workload.
inline std::vector<nlohmann::json> switches_for(const std::string& kind) {
  std::vector<nlohmann::json> switches;
  for (const auto& one : read_config("optimizations.json")) {
    const auto& kinds = one.at("applies_to");
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) switches.push_back(one);
  }
  return switches;
}

/// Those values of each such switch that are words, as the worker's implemented_…switches() lists
/// them.
inline std::map<std::string, std::vector<std::string>> listed_switches(const std::string& kind) {
  std::map<std::string, std::vector<std::string>> listed;
  for (const auto& one : switches_for(kind)) {
    std::vector<std::string>& words = listed[one.at("name").get<std::string>()];
    for (const auto& value : one.at("values"))
      if (value.at("value").is_string()) words.push_back(value.at("value"));
  }
  return listed;
}

}  // namespace memduel
