// A training that is probed for its memory: data, model and optimizer of its own, on a device.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "training/budget_report.h"
#include "training/memory_budget.h"
#include "workloads/federated/samples.h"
#include "workloads/federated/worker_config.h"

namespace memduel {

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
