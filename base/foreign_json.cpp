#include "base/foreign_json.h"

#include <stdexcept>

namespace memduel {

bool refuse_deep_json(int depth, nlohmann::json::parse_event_t /*event*/,
                      nlohmann::json& /*value*/) {
  if (depth > kDeepestJson)
    throw std::length_error("nested deeper than " + std::to_string(kDeepestJson) + " levels");
  return true;
}

nlohmann::json parse_foreign_json(std::string_view text) {
  try {
    return nlohmann::json::parse(text, refuse_deep_json, /*allow_exceptions=*/false);
  } catch (const std::length_error&) {
    return nlohmann::json::value_t::discarded;
  }
}

}  // namespace memduel
