// The profiles of a run: DIR/profiles/<trial>-<role>.mdp, one per process image of a profile trial.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/trial_plan.h"

namespace memduel {

inline constexpr const char* kProfilesFolder = "profiles";

/// Finishes what a profile trial's recorders left, into `folder`. Returns what is missing and why.
/// Throws Error(io) when a profile cannot be written.
std::vector<std::string> keep_profiles(const TrialPlan& plan, const std::filesystem::path& folder);

/// The profiles in a run's directory, by name.
std::vector<std::filesystem::path> kept_profiles(const std::filesystem::path& run_directory);

}  // namespace memduel
