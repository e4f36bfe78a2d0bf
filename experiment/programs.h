// The programs that the trials of an experiment execute, and what their files hold.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "experiment/config.h"

namespace memduel {

/// The file that starting `name` in `cwd` with this PATH would execute; absent when there is none.
std::optional<std::filesystem::path> resolve_program(const std::string& name,
                                                     const std::filesystem::path& cwd,
                                                     const std::string& path);

/// Path to SHA-256 of every program that an arm names, or of `worker` for a workload of ours.
/// Throws Error(usage) naming the arm and role of a program that is not there.
std::map<std::string, std::string> program_hashes(
    const Experiment& experiment, const std::optional<std::filesystem::path>& worker);

}  // namespace memduel
