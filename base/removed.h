// What earlier versions had, and what to use instead. CHANGELOG.md lists the same.
#pragma once

#include <optional>
#include <string_view>

namespace memduel {

/// What to use in place of an option ("--budgets"), verb or value of an earlier version, as advice
/// for an error message. std::nullopt for every other word.
std::optional<std::string_view> replacement_for(std::string_view word);

}  // namespace memduel
