#include "workloads/probes/torch_bytes.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

namespace memduel {
namespace {

std::atomic<std::int64_t> g_live{0};
std::atomic<std::int64_t> g_peak{0};
std::atomic<std::int64_t> g_allocated{0};

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> g_limit{kNoLimit};

void refuse_beyond_limit(std::size_t size) {
  const std::int64_t limit = g_limit.load(std::memory_order_relaxed);
  const auto wanted = static_cast<std::int64_t>(size);
  TORCH_CHECK_WITH(OutOfMemoryError, wanted <= limit - g_live.load(std::memory_order_relaxed),
                   "tensors may take ", limit, " bytes, and ", wanted, " more are wanted");
}

void count_allocation(std::int64_t bytes) {
  g_allocated.fetch_add(bytes, std::memory_order_relaxed);
  const std::int64_t live = g_live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = g_peak.load(std::memory_order_relaxed);
  while (live > peak && !g_peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

// LibTorch's allocator takes its blocks from malloc, which knows their sizes (rounded up). Blocks
// must stay plain addresses: oneDNN's convolutions ask for them as such.
std::int64_t block_bytes(void* block) {
  return static_cast<std::int64_t>(malloc_usable_size(block));
}

c10::Allocator* g_wrapped = nullptr;

void free_block(void* block) {
  g_live.fetch_sub(block_bytes(block), std::memory_order_relaxed);
  g_wrapped->raw_deleter()(block);
}

/// LibTorch 1.13 asks a const allocator, 2.x one that is not; 2.x has it copy data, too. Each
/// function overrides where there is something to override, so none can say so.
// NOLINTBEGIN(modernize-use-override,cppcoreguidelines-explicit-virtual-functions)
class CountingAllocator final : public c10::Allocator {
 public:
  [[nodiscard]] c10::DataPtr allocate(std::size_t size) {
    return std::as_const(*this).allocate(size);
  }
  void copy_data(void* to, const void* from, std::size_t size) const {
    std::memcpy(to, from, size);
  }

  [[nodiscard]] c10::DataPtr allocate(std::size_t size) const {
    refuse_beyond_limit(size);
    c10::DataPtr data = g_wrapped->allocate(size);
    if (data.get() == nullptr) return data;
    count_allocation(block_bytes(data.get()));
    const bool exchanged = data.compare_exchange_deleter(g_wrapped->raw_deleter(), &free_block);
    TORCH_CHECK(exchanged, "LibTorch's CPU allocator is not the one that was wrapped");
    return data;
  }

  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const { return &free_block; }
};
// NOLINTEND(modernize-use-override,cppcoreguidelines-explicit-virtual-functions)

}  // namespace

void install_torch_probe() {
  // Never freed: tensors of static storage outlive every other object.
  static const auto* const installed = [] {
    g_wrapped = c10::GetCPUAllocator();
    auto* const counting = new CountingAllocator;
    c10::SetCPUAllocator(counting, /*priority=*/255);
    return counting;
  }();
  static_cast<void>(installed);
}

TorchBytes torch_bytes() {
  return {g_live.load(), g_peak.load(), g_allocated.load()};
}

void reset_torch_peak() {
  g_peak.store(g_live.load());
}

TorchLimit::TorchLimit(double bytes) {
  g_limit.store(static_cast<std::int64_t>(bytes));
}

TorchLimit::~TorchLimit() {
  g_limit.store(kNoLimit);
}

}  // namespace memduel
