// Keeps a second memduel out of a run directory.
#pragma once

#include <filesystem>

namespace memduel {

/// Holds flock on DIR/run.lock, which names the process; the system frees it when the process ends,
/// however that happens.
class RunLock {
 public:
  /// Throws Error(usage) naming the process that holds the lock, Error(io) when the file cannot be
  /// made.
  explicit RunLock(const std::filesystem::path& directory);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) = delete;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int fd_ = -1;
};

/// Whether a process holds the lock of `directory`: its run is still going.
bool is_in_use(const std::filesystem::path& directory);

}  // namespace memduel
