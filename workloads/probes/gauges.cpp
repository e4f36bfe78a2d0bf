#include "workloads/probes/gauges.h"

#include <algorithm>

#include "base/allocator_state.h"
#include "memduel/annotate.h"
#include "workloads/probes/torch_bytes.h"

namespace memduel {
namespace {

// Process-wide, like the allocators that they watch.
bool allocator_wanted = false;
bool torch_wanted = false;

void send_allocator_gauges() {
  for (const auto& [name, value] : allocator_state().metrics())
    if (value) memduel_gauge(name, static_cast<double>(*value));
}

void send_torch_gauges() {
  const TorchBytes tensors = torch_bytes();
  memduel_gauge("torch_cpu_bytes", static_cast<double>(tensors.live));
  memduel_gauge("peak_torch_cpu_bytes", static_cast<double>(tensors.peak));
  reset_torch_peak();
}

}  // namespace

void install_probes(const std::vector<std::string>& meters) {
  const auto wanted = [&](const char* name) {
    return std::find(meters.begin(), meters.end(), name) != meters.end();
  };
  allocator_wanted = wanted("allocator");
  torch_wanted = wanted("torch");
  if (torch_wanted) install_torch_probe();
}

void send_memory_gauges() {
  if (allocator_wanted) send_allocator_gauges();
  if (torch_wanted) send_torch_gauges();
}

}  // namespace memduel
