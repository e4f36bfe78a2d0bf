// CPU time of the calling thread, by which meters ration what costs much.
#pragma once

#include <cstdint>
#include <ctime>

namespace memduel {

inline std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace memduel
