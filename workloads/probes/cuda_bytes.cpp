// Compiled where LibTorch is one for CUDA; cuda_bytes_missing.cpp takes its place elsewhere.
#include "workloads/probes/cuda_bytes.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include "workloads/probes/cuda_stats.h"

namespace memduel {
namespace {

constexpr c10::DeviceIndex kFirstGpu = 0;

}  // namespace

std::string why_no_cuda() {
  return c10::cuda::device_count() > 0 ? "" : "no GPU: CUDA finds no device that it can use";
}

bool is_cuda_started() {
  return at::detail::getCUDAHooks().hasPrimaryContext(kFirstGpu);
}

std::optional<CudaBytes> cuda_bytes() {
  return cuda_bytes_from(c10::cuda::CUDACachingAllocator::getDeviceStats(kFirstGpu));
}

std::optional<CudaCapacity> cuda_capacity() {
  const c10::cuda::CUDAGuard guard(kFirstGpu);
  std::size_t free = 0;
  std::size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return CudaCapacity{static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

void reset_cuda_peaks() {
  c10::cuda::CUDACachingAllocator::resetPeakStats(kFirstGpu);
}

void synchronize_cuda() {
  const c10::cuda::CUDAGuard guard(kFirstGpu);
  c10::cuda::device_synchronize();
}

void empty_cuda_cache() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

}  // namespace memduel
