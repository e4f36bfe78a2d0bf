// The number that the kernel gave out last: a cheap way to see that processes or threads were made.
#pragma once

#include <sys/types.h>

#include "base/descriptor.h"

namespace memduel {

/// Reads /proc/loadavg (proc_loadavg(5)); one look costs about 2 us.
class LastPid {
 public:
  LastPid();
  /// Whether a number was given out since the last look; false where the file cannot be read.
  bool moved();

 private:
  Descriptor file_;
  pid_t last_ = 0;
};

}  // namespace memduel
