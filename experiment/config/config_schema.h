// The experiment schema at work: it judges a config, explains what is wrong, and holds every
// default.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// configs/schema/experiment.schema.json as built in.
const nlohmann::json& experiment_schema();
/// configs/schema/suite.schema.json, likewise.
const nlohmann::json& suite_schema();

/// Throws Error(usage) for the first fault: the place, what was found, what was expected, and the
/// nearest valid name for an unknown key or value. valijson decides; this explains.
void validate_against_schema(const nlohmann::json& document, const nlohmann::json& schema,
                             const std::string& origin);

/// `document`, which must be valid, with every absent key that has a default in the schema.
nlohmann::json with_schema_defaults(nlohmann::json document, const nlohmann::json& schema);

}  // namespace memduel
