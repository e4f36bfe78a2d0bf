// A config's JSON as people write it (comments allowed): places inside it, one --set applied to
// it, and the schemas, which judge it, explain what is wrong, and hold every default.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// Parses JSON with // and /* */ comments. Throws Error(usage) naming `origin`, line and column.
nlohmann::json parse_json_text(std::string_view text, const std::string& origin);

/// A place in a document, from its root.
using JsonPath = std::vector<std::string>;

/// {"variants", "0", "name"} as $.variants[0].name.
std::string format_json_path(const JsonPath& path);

/// "config.json, $.variants[0].name", as Error's `where`.
std::string json_place(const std::string& origin, const JsonPath& path);

/// Applies one --set: `arms.optimized.env.OMP_NUM_THREADS=2`. The value is read as JSON, else taken
/// as a string; an element of an array is named by its index or its "name". Objects on the way that
/// do not exist are made. Throws Error(usage) for a text without '=' or a path through a value that
/// is no object or array.
void set_json_value(nlohmann::json& document, const std::string& assignment);

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
