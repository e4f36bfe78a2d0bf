// Profiles of every tool: which one wrote a file is seen in its bytes, whatever its name.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "profile/function_names.h"
#include "profile/profile.h"

namespace memduel {

class PlainSource;

struct ProfileFormat {
  std::string_view name;   ///< "heaptrack"
  std::string_view holds;  ///< for people: which files of that tool
  /// `head` has the first unpacked bytes, at most 64 KiB.
  bool (*recognises)(std::string_view head);
  /// Throws Error(io) with the file and the offset of what makes no sense.
  Profile (*read)(PlainSource& source, const SymbolOptions& symbols);
};

/// Of other tools; in the order in which they are asked, so that the vaguest comes last.
std::span<const ProfileFormat> profile_formats();

/// Whether a regular file begins as a profile that read_profile() reads. Throws Error(io) if it
/// cannot be read.
bool is_profile(const std::filesystem::path& file);

/// A profile of memduel's recorder or of any format above, packed with gzip or zstd or plain, with
/// names for its addresses as far as the files they lie in are still here. Throws Error(io).
Profile read_profile(const std::filesystem::path& file);

/// Of a format above.
Profile read_foreign_profile(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
