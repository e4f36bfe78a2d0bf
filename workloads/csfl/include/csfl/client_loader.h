// A simulated client's data loader: its share of the samples, in batches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/datasets/loader_workers.h"
#include "workloads/datasets/partition.h"
#include "workloads/federated/samples.h"
#include "workloads/simulation/loader_process.h"

namespace memduel {

/// Of a loader whose workers persist.
struct LoaderChoice {
  int workers = 0;
  bool are_processes = false;  ///< else a worker is the batches that it keeps ready
};

class ClientLoader {
 public:
  /// The samples must outlive the loader.
  ClientLoader(const Samples& samples, const Indices& share, std::size_t batch_size,
               const LoaderChoice& workers);

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(share_.size()); }

  /// Starts the workers that are processes, where they do not run. Call before the first epoch,
  /// while no other thread trains.
  void start_workers();

  /// Hands an epoch's batches to `step`, in an order of `seed`, `most` batches at most.
  void epoch(std::uint64_t seed, std::size_t most, const std::function<void(const Batch&)>& step);

  /// Lets go of what the workers keep.
  void drop_prefetched();

 private:
  [[nodiscard]] std::vector<Indices> batches_of(std::uint64_t seed, std::size_t most) const;
  [[nodiscard]] Batch read_batch(const std::string& bytes, std::size_t samples) const;

  const Samples& samples_;
  Indices share_;
  std::size_t batch_size_;
  LoaderChoice choice_;
  LoaderWorkers<Batch> workers_;
  std::vector<LoaderProcess> processes_;
};

}  // namespace memduel
