// Text that people write, or that is parsed whole.
#pragma once

#include <filesystem>
#include <string>

namespace memduel {

/// The bytes of `path`, 256 MiB at most. Throws Error(io) naming the file and what is wrong.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace memduel
