// Takes the place of cuda_bytes.cpp where LibTorch is one for the CPU alone.
#include "fl/probes.h"

namespace memduel {

std::string why_no_cuda(int /*index*/) {
  return "the LibTorch that this program is built with has no CUDA";
}

int gpu_count() {
  return 0;
}

void use_gpu(int /*index*/) {}

bool is_cuda_started() {
  return false;
}

std::optional<CudaBytes> cuda_bytes() {
  return std::nullopt;
}

std::optional<CudaCapacity> cuda_capacity() {
  return std::nullopt;
}

void reset_cuda_peaks() {}

void synchronize_cuda() {}

void empty_cuda_cache() {}

}  // namespace memduel
