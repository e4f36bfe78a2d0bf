// What tracers left in a directory: files that libmemduel_dump.so (dump_format.h) or the tools
// themselves named. memray names that of a forked child <ns>-<pid of the first process>.<pid>.
#pragma once

#include <filesystem>
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

/// Over a file that is there. Throws Error(io).
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Moves everything in `directory` to its places, and says what is missing of an image: its file of
/// the whole run. Throws Error(io).
KeptProfiles keep_dumps(const std::filesystem::path& directory, const ProfileNaming& file_of);

/// The same, with the whole lines of each file packed as one zstd frame.
KeptProfiles keep_packed_lines(const std::filesystem::path& directory,
                               const ProfileNaming& file_of);

}  // namespace memduel
