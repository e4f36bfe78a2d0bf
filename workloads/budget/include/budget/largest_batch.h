// The largest batch that fits, found by running training steps, and what a workload gives for
// that: a training of its own, with its data, model and optimizer on a device.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "budget/budget_report.h"
#include "budget/measured_batch.h"
#include "budget/memory_budget.h"
#include "fl/training.h"
#include "fl/worker_config.h"

namespace memduel {

/// One training step with so many samples: makes the batch, forward, backward, optimizer step.
/// Steps change weights, the optimizer and LibTorch's random numbers: give it a training of its
/// own, not the one that is to be measured. Any allocation in it may throw.
using TrainingStep = std::function<void(std::int64_t batch)>;

/// The most tensor bytes alive on the device during the step, those from before it included; absent
/// where it had not memory enough or took more than `limit_bytes`. On the CPU a step is stopped
/// there, so that the machine does not run out. Needs install_torch_probe() before the first
/// tensor.
std::optional<double> step_peak(const TrainingStep& step, const at::Device& device,
                                std::int64_t batch, double limit_bytes);

enum class BatchSearch {
  measured,  ///< measure_batch
  search,    ///< search_batch
};

/// Runs the least batch once before, so that gradients and the optimizer's state are there.
/// @param budget_bytes for all tensors on the device, those from before included.
FoundBatch largest_batch(const TrainingStep& step, const at::Device& device, double budget_bytes,
                         const BatchBounds& bounds, BatchSearch how);

class SampleCycle {
 public:
  explicit SampleCycle(std::int64_t samples) : samples_(static_cast<std::size_t>(samples)) {}

  /// The next so many.
  std::vector<std::size_t> next(std::int64_t count) {
    std::vector<std::size_t> indices(static_cast<std::size_t>(count));
    for (std::size_t& index : indices) {
      index = position_;
      position_ = (position_ + 1) % samples_;
    }
    return indices;
  }

 private:
  std::size_t samples_;
  std::size_t position_ = 0;
};

/// Tensor bytes on the device between steps, before the first.
struct HeldBytes {
  double data = 0;
  double model = 0;
  double other_weights = 0;  ///< a teacher's, or a copy of the best
};

class ProbedTraining {
 public:
  ProbedTraining() = default;
  ProbedTraining(const ProbedTraining&) = delete;
  ProbedTraining& operator=(const ProbedTraining&) = delete;
  virtual ~ProbedTraining() = default;

  /// One step with so many samples, however many there are: a TrainingStep.
  virtual void step(std::int64_t batch) = 0;
  /// The same with samples that no step() had, as far as there are some.
  virtual void held_out_step(std::int64_t batch) { step(batch); }
  [[nodiscard]] virtual std::vector<torch::Tensor> parameters() const = 0;
  /// By arithmetic alone; data_bytes is 0.
  [[nodiscard]] virtual BudgetParts from_shapes() const = 0;
  [[nodiscard]] virtual HeldBytes held() const = 0;
  /// The share of the device that it aims at.
  [[nodiscard]] virtual double target_utilization() const { return kTargetUtilization; }
};

/// Parameters, gradients as large, and `optimizer_states` of that size.
inline BudgetParts parts_of(double parameter_bytes, double optimizer_states) {
  BudgetParts parts;
  parts.parameter_bytes = parameter_bytes;
  parts.gradient_bytes = parameter_bytes;
  parts.optimizer_bytes = optimizer_states * parameter_bytes;
  return parts;
}

/// As a step takes it.
inline double sample_bytes(const Samples& samples) {
  const Batch one = samples.slice(0, 1);
  return static_cast<double>(one.images.nbytes() + one.labels.nbytes());
}

/// Networks that classify images, as clients and simulations train them.
std::unique_ptr<ProbedTraining> make_image_training(const WorkerConfig& config,
                                                    const at::Device& device);

/// A network for EEG as a study fine-tunes it. Makes config.trial_dir/epochs.bin, which goes with
/// the training.
std::unique_ptr<ProbedTraining> make_eeg_training(const WorkerConfig& config,
                                                  const at::Device& device);

/// One of the three networks of a training on graphs: autoencoder, teacher or student, the student
/// beside its teacher. Makes config.graph_file where it is not there. Throws Error(usage) for
/// another name.
std::unique_ptr<ProbedTraining> make_graph_training(const WorkerConfig& config,
                                                    const at::Device& device,
                                                    const std::string& network);

}  // namespace memduel
