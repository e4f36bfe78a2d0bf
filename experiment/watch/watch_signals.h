// The signals that a watch waits for, as a descriptor: none is missed, none interrupts it.
#pragma once

#include <signal.h>

#include <optional>

#include "base/descriptor.h"

namespace memduel {

/// SIGCHLD, SIGTERM, and the others that people send, where they are not ignored already (nohup).
/// The rest of the process gets them back at the end. A reader of our output that went away is no
/// reason to end: SIGPIPE is ignored meanwhile.
class WatchSignals {
 public:
  WatchSignals();
  WatchSignals(const WatchSignals&) = delete;
  WatchSignals& operator=(const WatchSignals&) = delete;
  ~WatchSignals();

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// The next one that has arrived.
  std::optional<int> next();

 private:
  sigset_t before_{};
  void (*pipe_before_)(int) = nullptr;
  Descriptor descriptor_;
};

}  // namespace memduel
