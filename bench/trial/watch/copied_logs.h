// A command's output, which goes to log files, passed on to whoever reads ours.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "util/file.h"

namespace memduel {

/// Into files first: the command is never held up by a reader of ours that is slow, and goes on
/// should memduel be killed.
class CopiedLogs {
 public:
  struct Log {
    std::filesystem::path path;  ///< exists
    int target = -1;             ///< the descriptor that the bytes end up in
  };
  /// Writes bytes to `target`.
  using Write = std::function<void(int target, std::string_view bytes)>;

  CopiedLogs(const std::vector<Log>& logs, Write write);

  /// Readable when a log grew; -1 when this system does not say, and then due_ns does.
  [[nodiscard]] int descriptor() const { return inotify_.get(); }
  /// Takes note that the descriptor was readable.
  void changed();
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }

  /// Passes on what is new, as far as the targets take it without waiting.
  void copy(std::int64_t now_ns);
  /// Passes on all that is left.
  void finish();

 private:
  struct Source {
    Descriptor file;
    int target = -1;
    off_t offset = 0;
  };
  /// Returns whether there is more.
  bool copy_piece(Source& source);

  Write write_;
  Descriptor inotify_;
  std::vector<Source> sources_;
  std::int64_t last_copy_ns_ = 0;
  std::int64_t due_ns_ = INT64_MAX;
};

}  // namespace memduel
