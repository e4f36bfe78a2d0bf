// A training that is probed for its memory: data, model and optimizer of its own, on a device.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "training/budget_report.h"
#include "workloads/federated/worker_config.h"

namespace memduel {

class ProbedTraining {
 public:
  ProbedTraining() = default;
  ProbedTraining(const ProbedTraining&) = delete;
  ProbedTraining& operator=(const ProbedTraining&) = delete;
  virtual ~ProbedTraining() = default;

  /// One step with so many samples, however many there are: a TrainingStep.
  virtual void step(std::int64_t batch) = 0;
  [[nodiscard]] virtual std::vector<torch::Tensor> parameters() const = 0;
  /// By arithmetic alone; data_bytes is 0.
  [[nodiscard]] virtual BudgetParts from_shapes() const = 0;
  /// Tensor bytes on the device that its data took, and its model.
  [[nodiscard]] virtual double data_bytes() const = 0;
  [[nodiscard]] virtual double model_bytes() const = 0;
};

/// Networks that classify images, as clients and simulations train them.
std::unique_ptr<ProbedTraining> make_image_training(const WorkerConfig& config,
                                                    const at::Device& device);

}  // namespace memduel
