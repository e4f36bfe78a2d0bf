// Freed memory that an arm's allocators keep: what a setting alone could give back.
#pragma once

#include <optional>
#include <string>

#include "analysis/values/results.h"

namespace memduel {

struct HeldMemory {
  std::string role;
  double bytes = 0;  ///< held free at marks, at most
  int arenas = 0;
};

/// Of the role that holds most, the median of an arm's trials. Absent below 16 MiB and below a
/// tenth of the role's peak: nothing worth a trial of its own. @param arm a candidate, or the
/// baseline.
std::optional<HeldMemory> held_memory(const Results& results, const std::string& arm);

}  // namespace memduel
