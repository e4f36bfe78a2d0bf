// What tracers left in a directory: files named <ns>-<pid>[.round<n>] by libmemduel_dump.so
// (dump.cpp) or by the tools themselves.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "external/tracers.h"

namespace memduel {

struct LeftFile {
  std::filesystem::path file;
  LeftProfile of;
};

/// By image in the order in which they started; of each the whole run first, then its rounds. Empty
/// files are of images that were replaced before they wrote anything, and left out.
std::vector<LeftFile> left_files(const std::filesystem::path& directory);

/// Brings a file to its place.
using FileMover =
    std::function<void(const std::filesystem::path& from, const std::filesystem::path& to)>;

/// Everything in `directory`, and what is missing of an image: its file of the whole run.
KeptProfiles keep_files(const std::filesystem::path& directory, const ProfileNaming& file_of,
                        const FileMover& move);

/// Renames, or copies where the two are on different file systems. Throws Error(io).
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// The whole lines of `from` as one zstd frame. Throws Error(io).
void pack_lines(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace memduel
