// The rules of a job that a schema cannot tell: which names its parts may have, where its paths
// start, and which patterns and metrics go together.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/config_json.h"
#include "config/job.h"
#include "model/metric_catalogue.h"

namespace memduel {

struct Variant;

/// Makes every directory and file of the job absolute, from `directory`; one that starts with
/// {trial_dir} stays. Throws Error(usage) for a role given twice or reserved, an `after` that names
/// no earlier role, a `ready` with two conditions, a pattern that is none, an unknown placeholder,
/// a variable that no environment can hold, a template that would be written outside the trial and
/// a name of files given twice.
void resolve_job(Job& job, const std::filesystem::path& directory, const Places& places);

/// The same of what a variant changes; `path` is its place. It gets its processes: the job's, with
/// its argv, append, env and cwd applied.
void resolve_changes(Variant& variant, const Job& job, const std::filesystem::path& directory,
                     const JsonPath& path, const Places& places);

/// Throws Error(usage) for a variable whose name or value no environment can hold.
void refuse_bad_environment(const Environment& env, const JsonPath& path, const Places& places);

/// What an error says of a name that no process has.
std::string not_a_role(const std::string& name, const std::vector<std::string>& roles);

/// `path` from `directory`, unless it is absolute or starts with {trial_dir}.
std::string resolve_path(const std::string& path, const std::filesystem::path& directory);

/// Of every metric that `metrics` names or a pattern reads; undeclared where only a `metric_NAME`
/// reads it.
/// @param job whose patterns are valid
std::map<std::string, Direction> declared_metrics(const Job& job);

}  // namespace memduel
