#include "fl/probes.h"
#include "memduel/memory_torch.h"

namespace memduel {
namespace {

class TorchCuda : public DeviceMemory {
 public:
  [[nodiscard]] std::string limitation() const override { return why_no_cuda(); }

  [[nodiscard]] std::optional<DeviceBytes> bytes() const override {
    if (!is_cuda_started()) return std::nullopt;
    const auto cache = cuda_bytes();
    const auto capacity = cuda_capacity();
    if (!cache || !capacity) return std::nullopt;
    return DeviceBytes{cache->allocated, cache->reserved, capacity->free, capacity->total};
  }

  void synchronize() override {
    if (is_cuda_started()) synchronize_cuda();
  }

  void empty_cache() override {
    if (is_cuda_started()) empty_cuda_cache();
  }
};

}  // namespace

DeviceMemory& torch_cuda() {
  static TorchCuda device;
  return device;
}

}  // namespace memduel
