// What is open in a document whose workload is a job is settled: seeds, gates, meters, paths, and
// each variant's processes, by the rules that a schema cannot tell.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/overrides.h"
#include "config/read_document.h"
#include "model/document.h"
#include "model/job_facts.h"

namespace memduel {

/// Where workload and variants come from: the config, or its provider.
struct JobSource {
  Places places;
  std::filesystem::path directory;  ///< at which paths start
  bool is_expanded = false;
};

/// Directories and files become absolute; one that starts with {trial_dir} stays. Throws
/// Error(usage) for a role given twice or reserved, an `after` that names no earlier role, a
/// `ready` with two conditions, a pattern that is none, an unknown placeholder, a variable that no
/// environment can hold, a template that would be written outside the trial, a name of files given
/// twice, two variants that are the same program, and gates or rounds that contradict others.
/// @param places of all else
void resolve_document(Document& document, const Places& places, const JobSource& source,
                      const Overrides& overrides);

/// A process with a count of several is a group. The patterns of its marks are valid.
JobFacts job_facts_of(const Job& job);

/// What an error says of a name that no process has.
std::string not_a_role(const std::string& name, const std::vector<std::string>& roles);

/// `path` from `directory`, unless it is absolute or starts with {trial_dir}.
std::string resolve_path(const std::string& path, const std::filesystem::path& directory);

}  // namespace memduel
