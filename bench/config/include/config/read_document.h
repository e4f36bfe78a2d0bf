// A config from its text to a typed document: judged by the schema, then read.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "config/config_json.h"
#include "model/document.h"

namespace memduel {

/// Where the variants of a document are.
inline JsonPath variant_path(std::size_t index) {
  return {"variants", std::to_string(index)};
}

/// The schema of configs, as configs/schema/experiment.schema.json has it.
const nlohmann::json& experiment_schema();

/// Throws Error(usage) for the first value that does not follow the schema.
Document read_document(const nlohmann::json& root, const Places& places);

}  // namespace memduel
