// LibTorch's part of memduel/memory.h. Link memduel::memory_torch. Includes no header of LibTorch.
#pragma once

#include "memduel/memory.h"

namespace memduel {

/// The caching allocator of CUDA device 0, as CleanupOptions::device and MemoryInfoOptions::device.
/// Where LibTorch is one for the CPU, or CUDA finds no device, it does nothing and its limitation()
/// says so. It never starts CUDA: before the program has used the device there is nothing to clean
/// up.
DeviceMemory& torch_cuda();

}  // namespace memduel
