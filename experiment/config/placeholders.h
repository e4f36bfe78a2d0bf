// {NAME} and {NAME:WORD} in a command workload's texts, replaced for each trial.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// The value of a placeholder, by what stands between its braces; absent: there is none of it.
using PlaceholderValue = std::function<std::optional<std::string>(const std::string& name)>;

/// `text` with its placeholders replaced. NAME is a word of small letters and _; every other text
/// in braces stays as it is (JSON, a regular expression's {2,3}), and so does what follows a $, a
/// shell's ${name}. {{name}} is the text {name}. Throws Error(usage) at `place` for a placeholder
/// that `value` does not know, with the nearest of `known`.
std::string fill_placeholders(std::string_view text, const PlaceholderValue& value,
                              const std::vector<std::string>& known, const std::string& place);

/// The same for texts in which braces have a meaning of their own, as in patterns: what `value`
/// does not know stays.
std::string fill_known_placeholders(std::string_view text, const PlaceholderValue& value);

}  // namespace memduel
