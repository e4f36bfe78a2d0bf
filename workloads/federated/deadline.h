// A point in time after which waiting is given up.
#pragma once

#include <chrono>

namespace memduel {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_in(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

}  // namespace memduel
