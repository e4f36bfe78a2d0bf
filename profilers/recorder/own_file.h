// A file of the recorder inside somebody else's process: its descriptor may be closed or replaced
// under our hands (daemons close all they see), so that it is checked before each write, and opened
// again.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "thread_state.h"

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
  /// Where append writes next.
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  bool open_high(int flags, bool low_will_do) MEMDUEL_HIDDEN;
  bool is_open() MEMDUEL_HIDDEN;
  [[nodiscard]] bool is_ours() const MEMDUEL_HIDDEN;

  const char* suffix_ = nullptr;
  int fd_ = -1;
  ino_t inode_ = 0;
  dev_t device_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace memduel::recorder
