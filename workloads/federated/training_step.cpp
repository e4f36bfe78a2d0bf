#include "workloads/federated/training_step.h"

namespace memduel {

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const WorkloadConfig& workload,
                                                        const Model& model) {
  std::vector<torch::Tensor> parameters = model.network->parameters();
  if (workload.optimizer == "sgd")
    return std::make_unique<torch::optim::SGD>(std::move(parameters),
                                               torch::optim::SGDOptions(workload.learning_rate));
  return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                              torch::optim::AdamOptions(workload.learning_rate));
}

StepResult training_step(ImageClassifier& network, torch::optim::Optimizer& optimizer,
                         const Batch& batch) {
  optimizer.zero_grad();
  StepResult result;
  result.scores = network.forward(batch.images);
  result.loss = torch::nn::functional::cross_entropy(result.scores, batch.labels);
  result.loss.backward();
  optimizer.step();
  return result;
}

}  // namespace memduel
