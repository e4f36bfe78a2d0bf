// A file of the recorder inside somebody else's process: its descriptor may be closed or replaced
// under our hands (daemons close all they see), so that it is checked before each write.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

class OwnFile {
 public:
  /// `<image><suffix>` in the settings' directory; must not exist.
  bool create(const char* suffix) MEMDUEL_HIDDEN;
  /// Does nothing to a descriptor that is no longer ours.
  void close() MEMDUEL_HIDDEN;
  /// False where nothing was kept: no space, a limit of the process, not our file any more.
  bool append(const void* bytes, std::size_t count) MEMDUEL_HIDDEN;
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  [[nodiscard]] bool is_ours() const MEMDUEL_HIDDEN;

  int fd_ = -1;
  ino_t inode_ = 0;
  dev_t device_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace memduel::recorder
