// Why no line of a log matches a pattern, as far as its lines show.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace memduel {

/// Of a log that no line of matches `pattern`: the line that comes nearest, with how much of the
/// pattern it matches; else its last lines; or that it is no UTF-8 text. Reads the log's last 256
/// KiB. Empty where the log is.
std::string near_match(const std::filesystem::path& log, const std::string& pattern);

}  // namespace memduel
