// Compiled where LibTorch is one for CUDA; cuda_bytes_missing.cpp takes its place elsewhere.
#include "workloads/probes/cuda_bytes.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include "workloads/probes/cuda_stats.h"

namespace memduel {
namespace {

constexpr c10::DeviceIndex kFirstGpu = 0;

}  // namespace

bool has_cuda_probe() {
  return true;
}

std::optional<CudaBytes> cuda_bytes() {
  return cuda_bytes_from(c10::cuda::CUDACachingAllocator::getDeviceStats(kFirstGpu));
}

void reset_cuda_peaks() {
  c10::cuda::CUDACachingAllocator::resetPeakStats(kFirstGpu);
}

void empty_cuda_cache() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

}  // namespace memduel
