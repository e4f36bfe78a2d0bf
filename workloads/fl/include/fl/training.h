// Samples as tensors, and the batches made from them.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "workloads/datasets/image_set.h"
#include "workloads/datasets/partition.h"
#include "workloads/datasets/random.h"
#include "workloads/federated/worker_config.h"

namespace memduel {

struct Batch {
  torch::Tensor images;  ///< float [n, channels, height, width]
  torch::Tensor labels;  ///< int64 [n]
  [[nodiscard]] Batch on(const at::Device& device) const {
    return {images.to(device), labels.to(device)};
  }
};

/// Pixels stay bytes, in main memory, until a batch is made: a quarter of the memory of floats.
class Samples {
 public:
  Samples() = default;
  Samples(torch::Tensor images, torch::Tensor labels, double mean, double deviation);

  /// Of both tensors.
  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>(images_.nbytes() + labels_.nbytes());
  }
  [[nodiscard]] std::int64_t count() const { return labels_.defined() ? labels_.size(0) : 0; }
  /// The samples at `indices`, normalised.
  [[nodiscard]] Batch batch(const std::vector<std::size_t>& indices) const;
  /// Of one sample: channels, height and width.
  [[nodiscard]] at::IntArrayRef shape() const { return images_.sizes().slice(1); }
  /// Samples first … first + count - 1.
  [[nodiscard]] Batch slice(std::int64_t first, std::int64_t count) const;

 private:
  [[nodiscard]] torch::Tensor normalise(const torch::Tensor& images) const;

  torch::Tensor images_;
  torch::Tensor labels_;
  double mean_ = 0;
  double deviation_ = 1;
};

/// An endless stream of batches over the samples: a new seeded order for each pass, the last short
/// batch of a pass included, as a shuffling PyTorch data loader gives them.
class BatchStream {
 public:
  BatchStream(const Samples& samples, std::int64_t batch_size, std::uint64_t seed);
  Batch next();
  /// Ends the pass, as a new iterator of a data loader does.
  void restart() { position_ = order_.size(); }

 private:
  const Samples& samples_;
  std::size_t batch_size_;
  RandomEngine engine_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
};

/// What a role reads before its idle mark.
struct RoleSamples {
  Samples train;  ///< a client's share; empty on the server
  Samples validation;
};

/// @param client counted from 1; 0 for the server.
RoleSamples load_samples(const WorkerConfig& config, int client);

/// What one process that plays all clients reads: each has a share of the same samples.
struct SharedSamples {
  Samples train;
  Samples validation;
  std::vector<Indices> shares;  ///< of `train`, one per client
};
SharedSamples load_shared_samples(const WorkerConfig& config);

}  // namespace memduel
