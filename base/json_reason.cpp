#include "base/json_reason.h"

namespace memduel {

std::string reason_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return text.starts_with("[json.exception") && end != std::string::npos ? text.substr(end + 2)
                                                                         : text;
}

}  // namespace memduel
