// Seconds of a config as nanoseconds of the clock.
#pragma once

#include "experiment/marks/monotonic.h"

namespace memduel {

inline double seconds_as_ns(double seconds) {
  return seconds * static_cast<double>(kSecondNs);
}

inline std::int64_t whole_ns(double seconds) {
  return static_cast<std::int64_t>(seconds_as_ns(seconds));
}

}  // namespace memduel
