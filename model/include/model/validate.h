// The one validator: a document against a JSON schema, in words.
#pragma once

#include <nlohmann/json.hpp>

#include "model/places.h"

namespace memduel {

/// Throws Error(usage) for the first fault: the place, what was found, what was expected, and the
/// nearest valid name for an unknown key or value. It knows the keywords that configs/schema/ uses.
void validate_against_schema(const nlohmann::json& document, const nlohmann::json& schema,
                             const Places& places);

/// The same of the value at `path` of a document; `schema` is in the definitions of `root`.
void validate_value(const nlohmann::json& value, const nlohmann::json& schema,
                    const nlohmann::json& root, const JsonPath& path, const Places& places);

/// `document`, which must be valid, with every absent key that has a default in the schema.
nlohmann::json with_schema_defaults(nlohmann::json document, const nlohmann::json& schema);

}  // namespace memduel
