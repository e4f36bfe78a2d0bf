// Whole files in, whole files out: a reader never sees half of what was written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace memduel {

/// What a pipe or a device gives may never end.
inline constexpr std::size_t kMostOfAStream = std::size_t{256} << 20;

/// With those above it; nothing where it is there already. Throws Error(io) naming it and the
/// system's reason.
void make_directory(const std::filesystem::path& directory, const std::string& advice = "");

/// The bytes of `path`; of a pipe or a device at most kMostOfAStream. Throws Error(io) naming the
/// file and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// The same of a file that nobody makes larger than `most` bytes: throws for a larger one, and for
/// a device that never ends.
std::string read_file_of_at_most(const std::filesystem::path& path, std::size_t most);

/// Writes beside `path`, syncs and renames, so that `path` holds either the old bytes or all the
/// new. A symlink or a device of that name is replaced. Throws Error(io); the temporary file is
/// removed.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The same, for the user's eyes alone (mode 0600).
void write_private_file(const std::filesystem::path& path, std::string_view bytes);

/// The same to a path that the user named: symlinks stay, and what they lead to is replaced;
/// devices and pipes are written through.
void write_named_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace memduel
