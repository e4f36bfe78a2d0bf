// Why nlohmann's library refuses a document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// What the library says, without its own name and number for it.
std::string reason_of(const nlohmann::json::exception& error);

}  // namespace memduel
