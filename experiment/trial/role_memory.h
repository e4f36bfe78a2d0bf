// Memory of a role's processes, read from outside at marks that they did not send themselves.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "experiment/marks/marks.h"

namespace memduel {

/// Reads one role at mark after mark.
class RoleMemory {
 public:
  /// Sums over those of `processes` that live; all absent when none does. `peak` is the VmHWM of
  /// the stretch since the last reading where one process alone was the role all the time: sums of
  /// several processes' peaks would be more than ever was.
  MarkSizes read(const std::vector<pid_t>& processes);

  /// Whether VmHWM could be reset at every reading. Otherwise peaks are those of the whole life.
  [[nodiscard]] bool peaks_reset() const { return peaks_reset_; }

 private:
  bool peaks_reset_ = true;
  pid_t alone_ = 0;  ///< the one process that lived at the last reading
  std::size_t known_ = 0;
};

/// Resident bytes of those that live; absent when none does. Resets nothing.
std::optional<std::int64_t> resident_bytes(const std::vector<pid_t>& processes);

}  // namespace memduel
