// A directory that is gone, with all it holds, when its owner is.
#pragma once

#include <filesystem>
#include <string>

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
};

}  // namespace memduel
