// Keeps a log from filling the disk while a process goes on writing it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace memduel {

/// Frees the middle of a growing file: its writer is never held up, offsets of readers stay true,
/// and its beginning and end are there.
class LogLimit {
 public:
  /// @param limit_bytes what the file may take on disk, about: it is looked at now and then.
  LogLimit(std::filesystem::path path, std::int64_t limit_bytes);

  /// Frees what is between the first and the last quarter of the limit once the file takes more.
  void check();

  /// After the last writer is gone: puts a line in the place of what was freed. Returns how many
  /// bytes that were, 0 for a log that was never cut.
  std::int64_t finish();

  /// The file system could not free a part of the file: it is not limited.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::filesystem::path path_;
  std::int64_t limit_bytes_;
  bool was_cut_ = false;
  bool failed_ = false;
};

}  // namespace memduel
