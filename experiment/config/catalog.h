// What may be switched: a provider's optimizations and presets.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace memduel {

struct OptimizationValue {
  nlohmann::json value;  ///< a string, number or boolean
  std::string summary;
};

/// One named switch; its first value is the original one.
struct Optimization {
  std::string name;
  std::string summary;
  std::vector<OptimizationValue> values;
  std::vector<std::string> applies_to;  ///< workload kinds
  /// Any whole number from here on is a value too.
  std::optional<std::int64_t> whole_numbers_from = std::nullopt;
  std::optional<std::int64_t> whole_numbers_to = std::nullopt;  ///< the last of them
};

/// A named set of switch values.
struct Preset {
  std::string name;
  std::string summary;
  std::vector<std::string> workload_kinds;
  std::map<std::string, nlohmann::json> optimizations;
};

struct Catalog {
  std::vector<Optimization> optimizations;
  std::vector<Preset> presets;
};

/// Reads a provider's optimizations and presets. Throws Error(usage) when a preset names an
/// unknown switch or value, or a field is missing.
Catalog parse_catalog(const nlohmann::json& optimizations,
                      const std::vector<nlohmann::json>& presets);

/// Every switch of `workload_kind` with its value: the original ones, then those of `preset`, then
/// `overrides`. Throws Error(usage) at `place` for an unknown preset, switch or value.
nlohmann::json resolve_optimizations(const Catalog& catalog, const std::string& workload_kind,
                                     const std::optional<std::string>& preset,
                                     const nlohmann::json& overrides, const std::string& place);

}  // namespace memduel
