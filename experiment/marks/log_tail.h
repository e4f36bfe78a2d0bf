// The end of a log, for the message of a failed trial.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace memduel {

/// The last `max_lines` lines of a file, at most `max_bytes` from its end, as valid UTF-8; control
/// bytes other than newline and tab become '?'. Empty when the file is empty or missing.
std::string log_tail(const std::filesystem::path& path, std::size_t max_lines = 10,
                     std::size_t max_bytes = 4096);

}  // namespace memduel
