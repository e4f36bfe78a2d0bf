// What may be switched: a provider's optimizations and presets.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace memduel {

/// What another setting must be.
struct Condition {
  std::string setting;  ///< a switch, or "workload." and a path in the workload
  std::vector<nlohmann::json> values;
};

struct OptimizationValue {
  nlohmann::json value;  ///< a string, number or boolean
  std::string summary;
  /// All of them, for this value to run at all.
  std::vector<Condition> works_only_with;
};

/// The largest number that a switch takes where another setting bounds it.
struct Ceiling {
  std::string setting;    ///< as in Condition; its value is a number
  std::int64_t less = 0;  ///< than that number
};

/// One named switch; its first value is the original one.
struct Optimization {
  std::string name;
  std::string summary;
  std::vector<OptimizationValue> values;
  std::vector<std::string> applies_to;  ///< workload kinds
  /// All of them, for the switch to make any difference.
  std::vector<Condition> matters_with;
  /// All of them, for any value but the first to run at all.
  std::vector<Condition> works_only_with;
  /// Any whole number from here on is a value too.
  std::optional<std::int64_t> whole_numbers_from = std::nullopt;
  std::optional<std::int64_t> whole_numbers_to = std::nullopt;  ///< the last of them
  std::optional<Ceiling> at_most = std::nullopt;
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

/// What an arm of a provider runs: both resolved.
struct ArmSettings {
  const nlohmann::json& optimizations;
  const nlohmann::json& workload;
};

/// A setting that is not what it would have to be.
struct Unmet {
  std::string found;   ///< "receive=into_tensors"
  std::string needed;  ///< "receive=concatenate or bytearray or chunk_list"
};

/// The first of `conditions` that does not hold; absent where all do.
std::optional<Unmet> find_unmet(const std::vector<Condition>& conditions,
                                const ArmSettings& settings);

/// A value that does not run beside another setting.
struct Clash {
  std::string chosen;  ///< "compression=zfp"
  Unmet unmet;
};

/// The first clash among the settings; absent where they run. @param own switches that
/// the arm sets itself: two numbers that clash are told from the side that it set.
std::optional<Clash> find_clash(const Catalog& catalog, const ArmSettings& settings,
                                const nlohmann::json& own = nlohmann::json::object());

}  // namespace memduel
