// Options that people know from other programs and that a command does not take.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memduel::cli {

/// What memduel has in place of an option of hyperfine 2.0.0; absent of others.
std::optional<std::string> advice_for_foreign_option(std::string_view verb,
                                                     std::string_view option);

}  // namespace memduel::cli
