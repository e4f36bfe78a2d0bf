// What memduel had once, and what takes its place.
#pragma once

#include <optional>
#include <string>

namespace memduel::cli {

/// One line for whoever still types a verb that is gone; absent for any other word.
std::optional<std::string> describe_removed_verb(const std::string& verb);

}  // namespace memduel::cli
