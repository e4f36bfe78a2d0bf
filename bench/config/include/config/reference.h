// The keys of configs for people and their tools: the schema that editors complete from, the page
// that docs/config.md is, and the paths that --set takes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace memduel {

/// Of an experiment or a suite: a schema with its keys in the order in which people read them.
nlohmann::ordered_json experiment_schema_in_order();
nlohmann::ordered_json suite_schema_in_order();

/// As it is in configs/schema/: what fits a line is in one.
std::string schema_text(const nlohmann::ordered_json& schema);

/// docs/config.md.
std::string config_reference();

/// measure.repeats, workload.processes.0.argv, …: each key that --set can change, of first
/// elements.
std::vector<std::string> config_key_paths();

}  // namespace memduel
