// What the switches of a replay need of each other and of the workload.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace memduel {

/// A switch and what another setting must be for it, from configs/switches.json.
struct SwitchNeed {
  std::string name;
  std::string setting;  ///< a switch, or "workload." and a path in the workload
  std::vector<std::string> values;
};

/// What switches need to make a difference, for all kinds of workload.
std::vector<SwitchNeed> needs_to_matter();

/// Throws Error(usage) at `place` for settings that no worker runs together. @param switches every
/// switch of the arm. @param workload resolved. @param own what the arm sets itself: two numbers
/// that clash are told from the side that it set.
void refuse_clashing_switches(const nlohmann::json& switches, const nlohmann::json& workload,
                              const nlohmann::json& own, const std::string& place);

/// The switches that make no difference in the arm, each with the reason.
nlohmann::json idle_switches(const nlohmann::json& switches, const nlohmann::json& workload);

}  // namespace memduel
