// Memory of a role's processes, read from outside at a mark that they did not send themselves.
#pragma once

#include <sys/types.h>

#include <vector>

#include "experiment/marks.h"

namespace memduel {

struct RoleMemory {
  MarkSizes sizes;  ///< sums over the processes; all absent when none is left
  bool peak_is_reset =
      true;  ///< VmHWM starts anew here, so that the next peak is its stretch's own
};

/// Of a role of one process `sizes.peak` is its VmHWM, which is then reset; sums of several
/// processes' peaks would be more than ever was, so theirs is absent.
RoleMemory read_role_memory(const std::vector<pid_t>& processes);

}  // namespace memduel
