// Bytes of tensors: of the CPU, by a wrapper around LibTorch's allocator; of a device; and of the
// parts that a training's memory falls into.

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "fl/probes.h"
#include "fl/training.h"
#include "memduel/annotate.h"

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

namespace {

constexpr DeviceCounters kCpu = {[] { return torch_bytes().live; },
                                 [] { return torch_bytes().peak; }, reset_torch_peak};
constexpr DeviceCounters kGpu = {[] { return cuda_bytes().value_or(CudaBytes{}).allocated; },
                                 [] { return cuda_bytes().value_or(CudaBytes{}).peak_allocated; },
                                 reset_cuda_peaks};
DeviceCounters others = kGpu;

const DeviceCounters& counters_of(const at::Device& device) {
  if (device.is_cpu()) return kCpu;
  return device.is_cuda() ? kGpu : others;
}

}  // namespace

void count_other_devices_with(const DeviceCounters& counters) {
  others = counters;
}

double live_bytes(const at::Device& device) {
  return static_cast<double>(counters_of(device).live());
}

double peak_bytes(const at::Device& device) {
  return static_cast<double>(counters_of(device).peak());
}

void reset_peak_bytes(const at::Device& device) {
  counters_of(device).reset_peak();
}

namespace {

std::int64_t tensor_bytes(const torch::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

void send_part(const char* metric, std::int64_t bytes) {
  memduel_gauge_better(metric, static_cast<double>(bytes), MEMDUEL_LOWER_IS_BETTER);
}

}  // namespace

std::int64_t parameter_bytes(const torch::nn::Module& network) {
  std::int64_t sum = 0;
  for (const torch::Tensor& one : network.parameters()) sum += tensor_bytes(one);
  return sum;
}

std::int64_t gradient_bytes(const torch::nn::Module& network) {
  std::int64_t sum = 0;
  for (const torch::Tensor& one : network.parameters()) sum += tensor_bytes(one.grad());
  return sum;
}

std::int64_t optimizer_bytes(const torch::optim::Adam& optimizer) {
  std::int64_t sum = 0;
  for (const auto& [parameter, state] : optimizer.state()) {
    const auto& averages = static_cast<const torch::optim::AdamParamState&>(*state);
    sum += tensor_bytes(averages.exp_avg()) + tensor_bytes(averages.exp_avg_sq());
  }
  return sum;
}

void send_part_gauges(const TrainingParts& parts) {
  send_part("parameter_bytes", parts.parameters);
  send_part("gradient_bytes", parts.gradients);
  send_part("optimizer_bytes", parts.optimizer);
  if (parts.activations > 0) send_part("activation_bytes", parts.activations);
  send_part("data_bytes", parts.data);
}

}  // namespace memduel
