// A simulated client's data loader: its share of the samples, in batches.
#pragma once

#include <functional>
#include <vector>

#include "workloads/datasets/loader_workers.h"
#include "workloads/datasets/partition.h"
#include "workloads/federated/samples.h"

namespace memduel {

class ClientLoader {
 public:
  /// @param workers of a loader whose workers persist. The samples must outlive the loader.
  ClientLoader(const Samples& samples, const Indices& share, std::size_t batch_size, int workers);

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(share_.size()); }

  /// Hands an epoch's batches to `step`, in an order of `seed`, `most` batches at most.
  void epoch(std::uint64_t seed, std::size_t most, const std::function<void(const Batch&)>& step);

  /// Lets go of what the workers keep.
  void drop_prefetched() { workers_.drop(); }

 private:
  const Samples& samples_;
  Indices share_;
  std::size_t batch_size_;
  LoaderWorkers<Batch> workers_;
};

}  // namespace memduel
