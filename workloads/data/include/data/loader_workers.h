// What the workers of a data loader keep in memory. There is no worker process: a worker is the
// batches that it makes ready ahead.
#pragma once

#include <cstddef>
#include <vector>

namespace memduel {

/// PyTorch's prefetch_factor.
inline constexpr std::size_t kPrefetchFactor = 2;
/// The most that a switch takes.
inline constexpr int kMostWorkers = 64;

template <class Batch>
class LoaderWorkers {
 public:
  explicit LoaderWorkers(int workers)
      : most_(kPrefetchFactor * static_cast<std::size_t>(workers)) {}

  void begin_epoch() { ready_.clear(); }
  /// The first batches of an epoch stay, for workers persist between epochs.
  void made(const Batch& batch) {
    if (ready_.size() < most_) ready_.push_back(batch);
  }
  /// In place of an epoch: make() as often as there is room.
  template <class Make>
  void fill(Make make) {
    while (ready_.size() < most_) ready_.push_back(make());
  }
  /// Lets go of all.
  void drop() { ready_.clear(); }

 private:
  std::size_t most_;
  std::vector<Batch> ready_;
};

}  // namespace memduel
