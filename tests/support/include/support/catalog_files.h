// For tests: the folders of configs and data sets in the checkout, and the switches and presets of
// configs/switches.json.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "util/file.h"

namespace memduel {

extern const char* const kConfigsFolder;
extern const char* const kDatasetsFolder;

inline nlohmann::json read_config(const std::string& name) {
  return nlohmann::json::parse(read_file(kConfigsFolder + ("/" + name)));
}

/// The catalog's switches that apply to a kind of workload.
inline std::vector<nlohmann::json> switches_for(const std::string& kind) {
  std::vector<nlohmann::json> switches;
  const nlohmann::json table = read_config("switches.json");
  for (const auto& one : table.at("switches")) {
    const auto& kinds = one.at("applies_to");
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) switches.push_back(one);
  }
  return switches;
}

/// Every switch of the preset's workloads: its first value where the preset sets none.
inline nlohmann::json preset_values(const std::string& name) {
  const nlohmann::json presets = read_config("switches.json").at("presets");
  const nlohmann::json& preset =
      *std::find_if(presets.begin(), presets.end(),
                    [&](const nlohmann::json& one) { return one.at("name") == name; });
  nlohmann::json values;
  if (preset.contains("base")) {
    values = preset_values(preset.at("base"));
  } else {
    for (const auto& one : switches_for(preset.at("workload_kinds").front()))
      values[one.at("name").get<std::string>()] = one.at("values").front().at("value");
  }
  values.update(preset.at("switches"));
  return values;
}

/// The words that a switch of federated rounds takes.
inline std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  for (const auto& one : switches_for("federated"))
    for (const auto& value : one.at("values"))
      if (one.at("name") == name && value.at("value").is_string())
        words.push_back(value.at("value"));
  return words;
}

}  // namespace memduel
