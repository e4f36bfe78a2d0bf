#include "workloads/graph_training/tried_step.h"

#include "workloads/datasets/loader_workers.h"

namespace memduel {

void try_step(const GraphStore& store, std::span<const std::size_t> indices, int loader_workers,
              const at::Device& device, NetworkTrainer& trainer, const NetworkTrainer::Loss& loss) {
  LoaderWorkers<GraphBatch> workers(loader_workers);
  workers.fill([&] { return make_batch(store, indices); });
  const GraphBatch made = make_batch(store, indices);
  trainer.step(made.on(device), loss);
}

}  // namespace memduel
