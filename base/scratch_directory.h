// A directory that is gone, with all it holds, when its owner is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace memduel {

class ScratchDirectory {
 public:
  /// Makes PARENT/NAME-XXXXXX. Throws Error(io) naming the parent and the system's reason.
  ScratchDirectory(const std::filesystem::path& parent, const std::string& name);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  ///< absolute

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< held until the owner ends, however it does
};

/// Those of this name in `parent` whose owner ended without removing them: it was killed.
std::vector<std::filesystem::path> abandoned_scratch(const std::filesystem::path& parent,
                                                     const std::string& name);

}  // namespace memduel
