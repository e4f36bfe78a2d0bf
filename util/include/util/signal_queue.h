// Signals that are read from a descriptor. The launcher includes this: no dependency but the C++
// library.
#pragma once

#include <signal.h>

#include <optional>
#include <vector>

#include "util/file.h"

namespace memduel {

/// Signals that are read instead of handled. The process gets them back at the end, without those
/// that came too late to matter.
class SignalQueue {
 public:
  explicit SignalQueue(const std::vector<int>& numbers);
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;
  ~SignalQueue();

  /// Readable when one has arrived; -1 where no descriptor could be made, and errno says why.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// The next one that has arrived.
  std::optional<int> next();

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

}  // namespace memduel
