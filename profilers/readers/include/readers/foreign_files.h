// Files that people hand to memduel although it does not read them: what they are, and what to run
// instead.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace memduel {

struct ForeignFile {
  std::string_view name;  ///< "hyperfine's results"
  std::string_view next;  ///< what to do; FILE stands for the file
};

/// By the first unpacked bytes; null for a file of an unknown kind.
const ForeignFile* foreign_file(std::string_view head);

/// `next` for this file.
std::string next_step_for(const ForeignFile& kind, const std::string& file);

/// Throws Error(io) if `file` is of a kind above, which a command that compares results cannot use.
/// Returns for a file of another kind, or one that is no regular file.
void refuse_as_results(const std::filesystem::path& file);

}  // namespace memduel
