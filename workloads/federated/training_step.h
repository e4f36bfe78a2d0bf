// One step of a training on images, which every workload that trains takes.
#pragma once

#include <memory>

#include "workloads/federated/samples.h"
#include "workloads/models/model.h"

namespace memduel {

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

}  // namespace memduel
