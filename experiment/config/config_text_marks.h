// The key `marks` of a command workload: which lines of which log mark rounds, phases and metrics.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/contract/trial_plan.h"

namespace memduel {

/// Log files that are relative start at {trial_dir}. Throws Error(usage) for an unknown role, a
/// `from` that is no stream and no file, and a pattern that cannot mark.
void resolve_text_marks(nlohmann::json& workload, const std::string& origin);

/// The marks of one trial, each for every process of its role.
/// @param fill replaces the placeholders in a mark of the process with that {index}.
std::vector<TextMarkSpec> planned_text_marks(
    const nlohmann::json& workload, const std::function<void(TextMarkSpec& mark, int index)>& fill);

}  // namespace memduel
