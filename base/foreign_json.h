// JSON that somebody else wrote, or that somebody may have changed.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace memduel {

/// nlohmann's values are written and destroyed by functions that call themselves: a document of
/// 200,000 brackets would overflow the stack.
inline constexpr int kDeepestJson = 200;

/// A callback for nlohmann's parser. Throws std::length_error for a deeper value.
bool refuse_deep_json(int depth, nlohmann::json::parse_event_t event, nlohmann::json& value);

/// Discarded where it is no JSON, or nested deeper than kDeepestJson.
nlohmann::json parse_foreign_json(std::string_view text);

}  // namespace memduel
