// Waiting for several descriptors, to the nanosecond where the kernel can.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/descriptor.h"

namespace memduel {

/// Each descriptor stands for a source, an address that its owner knows it by.
class Events {
 public:
  /// Throws Error(cannot_measure) where no more descriptors may be opened.
  Events();

  /// Tells of `source` whenever `descriptor` is readable. Throws Error(cannot_measure) where the
  /// kernel watches no more of them for this user.
  void add(int descriptor, void* source);
  /// The same, once: until `rearm`. A log that is written without pause would wake us for every
  /// line.
  void add_once(int descriptor, void* source);
  void rearm(int descriptor, void* source);
  void remove(int descriptor);

  /// The sources that have something to read, once one has or the monotonic clock says `until_ns`:
  /// then none. Kernels before 5.11 wait whole milliseconds, rounded up.
  const std::vector<void*>& wait_until(std::int64_t until_ns);

 private:
  void control(int operation, int descriptor, std::uint32_t events, void* source);

  Descriptor poll_;
  std::array<epoll_event, 16> ready_{};
  std::vector<void*> sources_;
};

}  // namespace memduel
