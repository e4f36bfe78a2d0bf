// What the trainings of all workloads share. On images: samples as tensors and the batches made
// from them, one step, and the accuracy over samples (switch predictions: what such a pass keeps).
// On any network: mixed precision, gradient checkpointing (a block's activations are computed again
// for the backward pass), the bytes of tensors on a device, and the parts of a training's memory.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/load.h"
#include "data/partition.h"
#include "data/random.h"
#include "fl/models.h"
#include "fl/worker_config.h"

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

class Predictions {
 public:
  Predictions() = default;
  Predictions(const Predictions&) = delete;
  Predictions& operator=(const Predictions&) = delete;
  virtual ~Predictions() = default;

  /// @param scores [n, classes], @param labels [n]
  virtual void add(const torch::Tensor& scores, const torch::Tensor& labels) = 0;

  /// Share of samples whose highest score is their label; 0 without samples.
  [[nodiscard]] virtual double accuracy() const = 0;
};

using MakePredictions = std::unique_ptr<Predictions> (*)();

/// @param value kept: all scores and labels, in main memory, put together at the end; reduced: two
/// counters.
MakePredictions choose_predictions(const std::string& value);

/// Adam or SGD over the model's parameters, as the workload says.
std::unique_ptr<torch::optim::Optimizer> make_optimizer(const WorkloadConfig& workload,
                                                        const Model& model);

struct StepResult {
  torch::Tensor scores;  ///< [n, classes]
  torch::Tensor loss;    ///< the batch's mean cross entropy
};

/// Forward, backward and the optimizer's step, gradients of the step before dropped first.
StepResult training_step(ImageClassifier& network, torch::optim::Optimizer& optimizer,
                         const Batch& batch);

/// Share of samples classified right, in evaluation mode, batch by batch.
double validate(const Model& model, const Samples& samples, int batch_size,
                MakePredictions make_predictions);

/// What matrix products and convolutions are computed in; parameters and their gradients stay fp32.
enum class Precision { fp32, bf16, fp16 };

/// Throws Error(cannot_measure) for fp16 on the CPU, whose kernels lack it.
void expect_precision(Precision precision, const at::Device& device);

/// What the calling thread computes in on a device.
Precision current_precision(const at::Device& device);

/// Whether a parameter's cast lives until the outermost scope ends, or for the one operation.
enum class CastParameters { once, each_time };

/// LibTorch's autocast on one device, in the calling thread, until it is destroyed. The outermost
/// scope lets go of the casts that are kept.
class AutocastScope {
 public:
  /// Throws as expect_precision() does.
  AutocastScope(Precision precision, const at::Device& device,
                CastParameters cast = CastParameters::once);
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  ~AutocastScope();

 private:
  at::Device device_;
  bool was_enabled_;
  at::ScalarType was_type_;
  bool kept_casts_;
};

/// Keeps small gradients of fp16 from becoming 0, with the constants of PyTorch's GradScaler. For
/// other precisions the scale is 1 and every step is taken.
class LossScaler {
 public:
  explicit LossScaler(Precision precision)
      : acts_(precision == Precision::fp16), scale_(acts_ ? 65536.0 : 1.0) {}

  /// To call backward() of.
  [[nodiscard]] torch::Tensor scaled(const torch::Tensor& loss) const;

  /// Divides the gradients by the scale, once before each step. False where one is not finite: then
  /// the step must be left out. The next scale is half of this one then, and twice this one after
  /// 2,000 steps in a row.
  bool unscale(const std::vector<torch::Tensor>& parameters);

  [[nodiscard]] double scale() const { return scale_; }

 private:
  bool acts_;
  double scale_;
  int steps_in_a_row_ = 0;
};

/// One tensor to one tensor; what else it reads is captured and gets no gradient.
using Block = std::function<torch::Tensor(const torch::Tensor&)>;

/// block(input), of which only the input is kept. The backward pass computes it again with the same
/// random numbers and in the same precision, so that gradients have the bits that they have without
/// (fp32 on one thread of the CPU), and whatever draws random numbers later draws the same. Without
/// a gradient to compute it is a plain call.
/// @param parameters all that the block reads and that are trained.
torch::Tensor checkpointed(const Block& block, const torch::Tensor& input,
                           const std::vector<torch::Tensor>& parameters);

/// How the bytes of a device are counted that is neither the CPU nor a GPU.
struct DeviceCounters {
  std::int64_t (*live)();
  std::int64_t (*peak)();
  void (*reset_peak)();
};
void count_other_devices_with(const DeviceCounters& counters);

/// Live now.
double live_bytes(const at::Device& device);

/// The most since the last reset_peak_bytes.
double peak_bytes(const at::Device& device);

/// The peak starts again from what is live.
void reset_peak_bytes(const at::Device& device);

std::int64_t parameter_bytes(const torch::nn::Module& network);
/// Of those that are there.
std::int64_t gradient_bytes(const torch::nn::Module& network);
/// Adam's two averages of every parameter that was stepped.
std::int64_t optimizer_bytes(const torch::optim::Adam& optimizer);

struct TrainingParts {
  std::int64_t parameters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;
  std::int64_t activations = 0;  ///< between the forward and the backward pass
  std::int64_t data = 0;         ///< of a batch
};

/// Sends each as a gauge: parameter_bytes, gradient_bytes, optimizer_bytes, activation_bytes,
/// data_bytes. Activations of 0 were not measured, and are not sent.
void send_part_gauges(const TrainingParts& parts);

}  // namespace memduel
