// From options to what they change in a config, each value given once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "run_options.h"

namespace memduel::cli {

/// What the config's overrides are. Throws Error(usage) where two options give one value, and for
/// --resume without --out.
Overrides overrides_from(const RunOptions& options);

/// The assignments of --set and of a suite, without those that a later one or an option replaces: a
/// command line that gives each value once.
std::vector<std::string> assignments_in_effect(const RunOptions& options);

/// Whether one of them sets the value at `path`, such as measure.repeats.
bool has_assignment(const std::vector<std::string>& assignments, const std::string& path);

/// The resolved config of the run that goes on; null where none does.
std::optional<Document> config_of_resumed(const RunOptions& options);

/// Throws Error(usage) where --set changes a value that --a, --b, --name, --prepare or
/// --ignore-failure gave to `document`.
void refuse_change_of_commands(const Document& document, const RunOptions& options);

/// Throws Error(usage) where an option changes a value of the suite's matrix: the names of its
/// experiments would be false.
void refuse_change_of_matrix(const SuiteExperiment& part, const RunOptions& options);

}  // namespace memduel::cli
