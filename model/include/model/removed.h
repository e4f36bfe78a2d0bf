// What earlier versions had, and what to use instead. CHANGELOG.md lists the same.
#pragma once

#include <optional>
#include <string_view>

namespace memduel {

enum class Removed { verb, option, tracer, export_format, schema, program, preset, switch_value };

/// What to use in place of a name of an earlier version, as advice for an error message. An option
/// is named alone, or with its verb if other verbs still have it ("check --candidate"), and so is
/// a verb's argument ("list tracers").
/// std::nullopt for every other name.
std::optional<std::string_view> replacement_for(Removed kind, std::string_view name);

}  // namespace memduel
