// The socket that a process sends its marks through.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.h"

namespace memduel {

/// What one process sent; several processes of a role share the socket, and the kernel says which
/// of them each piece is from.
struct MarkBytes {
  pid_t sender = 0;
  std::string bytes;
};

class MarksSocket {
 public:
  /// Throws Error(cannot_measure) when the system gives no socket.
  MarksSocket();

  /// The end for the process; released once it was handed over.
  Descriptor& remote() { return remote_; }
  /// Inode of the remote end: MEMDUEL_MARKS_INODE.
  [[nodiscard]] std::uint64_t inode() const { return inode_; }
  [[nodiscard]] int descriptor() const { return local_.get(); }

  /// What has arrived, without waiting; nothing when there is nothing more.
  std::optional<MarkBytes> receive();
  /// All writers are gone.
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  Descriptor local_;
  Descriptor remote_;
  std::uint64_t inode_ = 0;
  bool closed_ = false;
};

}  // namespace memduel
