// Takes the place of cuda_bytes.cpp where LibTorch is one for the CPU alone.
#include "workloads/probes/cuda_bytes.h"

namespace memduel {

bool has_cuda_probe() {
  return false;
}

std::optional<CudaBytes> cuda_bytes() {
  return std::nullopt;
}

void reset_cuda_peaks() {}

void empty_cuda_cache() {}

}  // namespace memduel
