// The few of NVML's functions and structures that memduel uses, as its documentation lays them out
// (API version 12). Checked against nvidia's nvml.h.
#pragma once

namespace memduel::nvml {

/// nvmlReturn_t
enum Return : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kOperatingSystem = 17,
  kVersionMismatch = 18,
  kArgumentVersionMismatch = 25,
};

using Device = struct Opaque*;

/// nvmlMemory_t: `used` includes what the driver reserves.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlMemory_v2_t: `used` is without `reserved`.
struct MemoryV2 {
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(MemoryV2) == 40);
/// NVML_STRUCT_VERSION(Memory, 2)
inline constexpr unsigned int kMemoryV2 = sizeof(MemoryV2) | (2U << 24U);

/// nvmlProcessInfo_v2_t, which GetComputeRunningProcesses_v2 and _v3 fill.
struct ProcessInfo {
  unsigned int pid;
  unsigned long long used_bytes;  ///< kNotAvailable where the driver does not say
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);
inline constexpr unsigned long long kNotAvailable = ~0ULL;

}  // namespace memduel::nvml
