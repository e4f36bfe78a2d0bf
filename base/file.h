// Whole files in, whole files out: a reader never sees half of what was written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace memduel {

/// The bytes of `path`. Throws Error(io) naming the file and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Writes beside `path`, syncs and renames, so that `path` holds either the old bytes or all the
/// new. Throws Error(io); the temporary file is removed.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace memduel
