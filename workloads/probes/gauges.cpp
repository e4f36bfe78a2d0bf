#include "workloads/probes/gauges.h"

#include "memduel/annotate.h"
#include "workloads/probes/heap_bytes.h"
#include "workloads/probes/torch_bytes.h"

namespace memduel {

void send_memory_gauges() {
  if (const auto heap = heap_bytes()) {
    memduel_gauge("heap_in_use_bytes", static_cast<double>(heap->in_use));
    memduel_gauge("heap_held_free_bytes", static_cast<double>(heap->held_free));
  }
  const TorchBytes tensors = torch_bytes();
  memduel_gauge("torch_cpu_bytes", static_cast<double>(tensors.live));
  memduel_gauge("peak_torch_cpu_bytes", static_cast<double>(tensors.peak));
  reset_torch_peak();
}

}  // namespace memduel
