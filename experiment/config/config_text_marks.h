// The key `marks` of a command workload: which lines of which log mark rounds, phases and metrics.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// Log files that are relative start at {trial_dir}. Throws Error(usage) for an unknown role, a
/// `from` that is no stream and no file, and a pattern that cannot mark.
void resolve_text_marks(nlohmann::json& workload, const std::string& origin);

}  // namespace memduel
