// The command workload: processes named in the config, and what an arm changes of them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace memduel {

/// Makes every directory and file of the workload absolute, from `directory`; one that starts with
/// {trial_dir} stays. Throws Error(usage) for a role given twice or reserved, an `after` that names
/// no earlier role, a `ready` with two conditions, a pattern that is none, an unknown placeholder,
/// a variable that no environment can hold, a template that would be written outside the trial and
/// a name of files given twice.
void resolve_command_workload(nlohmann::json& workload, const std::filesystem::path& directory,
                              const std::string& origin);

/// Of a job or an arm: paths made absolute. Throws Error(usage) at `place` for a template that
/// would be written outside the trial, or is neither a copy nor JSON.
void resolve_templates(nlohmann::json& templates, const std::filesystem::path& directory,
                       const std::string& place);

/// The workload's processes with the arm's argv, append, env and cwd applied. Throws Error(usage)
/// at `place` when the arm names an unknown role.
nlohmann::json processes_of_arm(const nlohmann::json& workload, const nlohmann::json& arm,
                                const std::string& place);

/// Throws Error(usage) at `place` for a variable whose name or value no environment can hold.
void refuse_bad_environment(const nlohmann::json& env, const std::string& place);

/// What an error says of a name that no process has.
std::string not_a_role(const std::string& name, const std::vector<std::string>& roles);

/// ROLE, or ROLE-1 … ROLE-count for a process with a count.
std::vector<std::string> roles_of_process(const nlohmann::json& process);

/// `path` from `directory`, unless it is absolute or starts with {trial_dir}.
std::string resolve_path(const std::string& path, const std::filesystem::path& directory);

}  // namespace memduel
