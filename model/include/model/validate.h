// The one validator: a document against a JSON schema, in words.
#pragma once

#include <nlohmann/json.hpp>

#include "model/keys.h"
#include "model/places.h"

namespace memduel {

/// Throws Error(usage) for the first fault: the place, what was found, what was expected, and the
/// nearest valid name for an unknown key or value. It knows the keywords that configs/schema/ uses.
void validate_against_schema(const nlohmann::json& document, const nlohmann::json& schema,
                             const Places& places);

/// A document that must follow the schema of S as a value. Throws as validate_against_schema().
template <KeySection S>
S read_valid(const nlohmann::json& document, const Places& places) {
  static const nlohmann::json schema = nlohmann::json::parse(whole_schema_of<S>().dump());
  validate_against_schema(document, schema, places);
  S section = keys_of(static_cast<const S*>(nullptr)).defaults();
  read_from(document, section);
  return section;
}

/// `document`, which must be valid, with every absent key that has a default in the schema.
nlohmann::json with_schema_defaults(nlohmann::json document, const nlohmann::json& schema);

}  // namespace memduel
