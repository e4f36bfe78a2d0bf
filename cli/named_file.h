// The one door for files that a user names: nothing of a run and no input of a command is written
// over.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel::cli {

/// What a command reads, and where it leaves its run.
struct Kept {
  std::vector<std::filesystem::path> inputs = {};  // NOLINT(readability-redundant-member-init)
  std::optional<std::filesystem::path> run = {};   // NOLINT(readability-redundant-member-init)
};

/// A file that the user named for output. Each command makes it before it begins its work.
class NamedFile {
 public:
  /// Throws Error(usage) for a file that a run has or is going to have, by whatever path or link,
  /// for a file that the command reads, and for a directory; Error(io) where no file can be
  /// written.
  NamedFile(std::filesystem::path path, const Kept& kept);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Throws Error(io).
  void write(std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

/// Throws what NamedFile throws for one of them, and Error(usage) where two are one file.
void check_named_files(const std::vector<std::string>& files, const Kept& kept);

}  // namespace memduel::cli
