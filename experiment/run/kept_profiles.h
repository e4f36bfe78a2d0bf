// The profiles of a run: what its profile trials left, in DIR/profiles/ under the names of
// base/profile_name.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/contract/trial_plan.h"

namespace memduel {

/// What another tool left out, which is said in its file alone, or why that cannot be read; as
/// lines that begin with `name`. Reading it when it is new finds the names of its addresses, too,
/// while the programs are what they were, and keeps them.
std::vector<std::string> losses_in(const std::filesystem::path& file, const std::string& name);

/// Brings what a profile trial's tracer left into `folder`. Returns what is missing of it and why.
/// Throws Error(io) when a profile cannot be written.
std::vector<std::string> keep_profiles(const TrialPlan& plan, const std::filesystem::path& folder);

/// The profiles in a run's directory, by name.
std::vector<std::filesystem::path> kept_profiles(const std::filesystem::path& run_directory);

}  // namespace memduel
