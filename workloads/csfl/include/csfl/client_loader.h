// A simulated client's data loader: its share of the samples, in batches. Its workers may be
// processes, forked as PyTorch's are: one shares the samples with its parent until one of them
// writes, and makes batches that the parent reads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "data/loader_workers.h"
#include "data/partition.h"
#include "fl/training.h"

namespace memduel {

class LoaderProcess {
 public:
  /// The bytes of the batch of these samples. Runs in the process alone.
  using Make = std::function<std::string(const std::vector<std::size_t>& samples)>;

  /// Forks: call while no other thread runs that the process would need. Throws
  /// Error(cannot_measure) where no process can be made.
  explicit LoaderProcess(const Make& make);
  LoaderProcess(LoaderProcess&& other) noexcept;
  LoaderProcess(const LoaderProcess&) = delete;
  LoaderProcess& operator=(const LoaderProcess&) = delete;
  LoaderProcess& operator=(LoaderProcess&&) = delete;
  /// Ends the process and waits for it.
  ~LoaderProcess();

  /// Asks for a batch; it is made while the parent does something else. One that is not read yet
  /// lives in the process.
  void ask(const std::vector<std::size_t>& samples) const;

  /// The bytes of the batch that was asked for first. Throws Error(cannot_measure) where the
  /// process has ended.
  [[nodiscard]] std::string answer() const;

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

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
