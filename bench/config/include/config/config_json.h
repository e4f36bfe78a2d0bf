// A config's JSON as people write it (comments allowed), and one --set applied to it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "model/places.h"

namespace memduel {

/// A document and where its values come from.
struct ConfigTree {
  nlohmann::json root;
  Places places;
};

/// Parses JSON with // and /* */ comments. Throws Error(usage) naming `origin`, line and column.
ConfigTree parse_config_text(std::string_view text, const std::string& origin);

/// Applies one --set: `arms.optimized.env.OMP_NUM_THREADS=2`. The value is read as JSON, else taken
/// as a string; an element of an array is named by its index or its "name". Objects on the way that
/// do not exist are made. Returns the place of the value. Throws Error(usage) for a text without
/// '=' or a path through a value that is no object or array.
JsonPath set_json_value(nlohmann::json& document, const std::string& assignment);

}  // namespace memduel
