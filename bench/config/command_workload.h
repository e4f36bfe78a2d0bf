// The command workload of a config, checked and resolved: its processes and what an arm changes of
// them, its key `marks` (which lines of which log mark rounds, phases and metrics), and which
// values of its own metrics are better, as its key `metrics` and the patterns declare it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/metric_catalogue.h"

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

/// Log files that are relative start at {trial_dir}. Throws Error(usage) for an unknown role, a
/// `from` that is no stream and no file, and a pattern that cannot mark.
void resolve_text_marks(nlohmann::json& workload, const std::string& origin);

/// Of every metric that `metrics` names or a pattern reads; undeclared where only a `metric_NAME`
/// reads it.
/// @param workload of kind command; its patterns are valid.
std::map<std::string, Direction> declared_metrics(const nlohmann::json& workload);

/// Throws Error(usage) at the place of a declaration that contradicts another one, or the table of
/// metrics.
void check_declared_metrics(const nlohmann::json& workload, const std::string& origin);

}  // namespace memduel
