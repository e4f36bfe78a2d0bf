// The system's clocks in nanoseconds, and seconds of a config as such.
#pragma once

#include <time.h>

#include <cstdint>

namespace memduel {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

inline std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kSecondNs + time.tv_nsec;
}

inline std::int64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

inline double seconds_as_ns(double seconds) {
  return seconds * static_cast<double>(kSecondNs);
}

inline std::int64_t whole_ns(double seconds) {
  return static_cast<std::int64_t>(seconds_as_ns(seconds));
}

}  // namespace memduel
