// For tests: a device that is none. Its tensors lie in main memory under a device type that this
// LibTorch has no kernels for ("xpu"), every operation on them is done by the CPU's kernels, and
// its bytes are counted. What a role does wrong on a GPU (reads a tensor's bytes where they are
// not, mixes devices) fails here just so.
#pragma once

#include <cstdint>

namespace memduel {

inline constexpr const char* kStandInDevice = "xpu";

/// Call once before the device is used; again has no effect.
void install_stand_in_device();

struct StandInBytes {
  std::int64_t live = 0;
  std::int64_t peak = 0;  ///< since reset_stand_in_peak
};

StandInBytes stand_in_bytes();
void reset_stand_in_peak();

}  // namespace memduel
