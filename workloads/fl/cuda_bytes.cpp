// Compiled where LibTorch is one for CUDA; cuda_bytes_missing.cpp takes its place elsewhere.
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <atomic>
#include <string>

#include "cuda_stats.h"
#include "fl/probes.h"

namespace memduel {
namespace {

std::atomic<int> used_gpu{0};

c10::DeviceIndex gpu() {
  return static_cast<c10::DeviceIndex>(used_gpu.load());
}

}  // namespace

std::string why_no_cuda(int index) {
  const int found = gpu_count();
  if (found == 0) return "no GPU: CUDA finds no device that it can use";
  if (index < found) return "";
  return "found " + std::to_string(found) + (found == 1 ? " GPU" : " GPUs") + ", counted from 0";
}

int gpu_count() {
  return c10::cuda::device_count();
}

void use_gpu(int index) {
  used_gpu = index;
}

bool is_cuda_started() {
  return at::detail::getCUDAHooks().hasPrimaryContext(gpu());
}

std::optional<CudaBytes> cuda_bytes() {
  return cuda_bytes_from(c10::cuda::CUDACachingAllocator::getDeviceStats(gpu()));
}

std::optional<CudaCapacity> cuda_capacity() {
  const c10::cuda::CUDAGuard guard(gpu());
  std::size_t free = 0;
  std::size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return CudaCapacity{static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

void reset_cuda_peaks() {
  c10::cuda::CUDACachingAllocator::resetPeakStats(gpu());
}

void synchronize_cuda() {
  const c10::cuda::CUDAGuard guard(gpu());
  c10::cuda::device_synchronize();
}

void empty_cuda_cache() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

}  // namespace memduel
