// The steps of a network's training, a step that is tried for what it takes, and how many graphs a
// step takes.

#include "network_trainer.h"

#include <algorithm>
#include <utility>

#include "data/loader_workers.h"
#include "fl/training.h"

namespace memduel {
namespace {

constexpr double kGraphWeightDecay = 1e-4;
constexpr double kMostGradientNorm = 1.0;

}  // namespace

NetworkTrainer::NetworkTrainer(torch::nn::Module& network, double learning_rate,
                               Precision precision, const at::Device& device)
    : network_(network),
      optimizer_(network.parameters(),
                 torch::optim::AdamOptions(learning_rate).weight_decay(kGraphWeightDecay)),
      precision_(precision),
      device_(device),
      scaler_(precision) {
  expect_precision(precision, device);
}

double NetworkTrainer::differentiate(const GraphBatch& batch, const Loss& loss_of) {
  network_.train();
  optimizer_.zero_grad();
  const double before = live_bytes(device_);
  torch::Tensor loss;
  {
    const AutocastScope scope(precision_, device_);
    loss = loss_of(batch);
  }
  most_activations_ =
      std::max(most_activations_, static_cast<std::int64_t>(live_bytes(device_) - before));
  most_data_ = std::max(most_data_, batch.bytes());
  scaler_.scaled(loss).backward();
  return loss.item<double>();
}

double NetworkTrainer::step(const GraphBatch& batch, const Loss& loss_of) {
  const double loss = differentiate(batch, loss_of);
  const std::vector<torch::Tensor> parameters = network_.parameters();
  if (!scaler_.unscale(parameters)) return loss;
  torch::nn::utils::clip_grad_norm_(parameters, kMostGradientNorm);
  optimizer_.step();
  return loss;
}

TrainingParts NetworkTrainer::take_parts() {
  return {parameter_bytes(network_), gradient_bytes(network_), optimizer_bytes(optimizer_),
          std::exchange(most_activations_, 0), std::exchange(most_data_, 0)};
}

void try_step(const GraphStore& store, std::span<const std::size_t> indices, int loader_workers,
              const at::Device& device, NetworkTrainer& trainer, const NetworkTrainer::Loss& loss) {
  LoaderWorkers<GraphBatch> workers(loader_workers);
  workers.fill([&] { return make_batch(store, indices); });
  const GraphBatch made = make_batch(store, indices);
  trainer.step(made.on(device), loss);
}

namespace {

MemoryBudget budget_for(const BatchQuestion& question, const at::Device& device) {
  const int identifiers = static_cast<int>(question.identifiers);
  BudgetInput input;
  input.device_bytes = question.device_bytes;
  if (device.is_cpu()) input.context_bytes = 0;
  input.parameter_bytes =
      static_cast<double>(parameter_count(question.model, identifiers)) * sizeof(float);
  input.embedding_bytes =
      static_cast<double>(embedding_count(question.model, identifiers)) * sizeof(float);
  input.teacher_bytes = static_cast<double>(question.teacher_bytes);
  input.sample_bytes = graph_sample_bytes(question.nodes, question.edges);
  input.activation_bytes =
      graph_activation_bytes(network_of(question.model, question.nodes, question.edges),
                             question.precision == Precision::fp32 ? 4 : 2);
  if (question.model.safety_factor)
    input.target_utilization = utilization_for(*question.model.safety_factor);
  input.most_batch = question.configured;
  input.least_batch = std::min(input.least_batch, input.most_batch);
  return plan_budget(input);
}

}  // namespace

std::int64_t choose_batch(BatchSizing sizing, const BatchQuestion& question,
                          const TrainingStep& step, const at::Device& device) {
  if (sizing == BatchSizing::fixed) return question.configured;
  const MemoryBudget budget = budget_for(question, device);
  if (sizing == BatchSizing::estimated) return budget.batch;
  if (sizing == BatchSizing::estimated_once) return budget.batch_as_implemented;
  const BatchBounds bounds{std::min<std::int64_t>(BatchBounds{}.least, question.configured),
                           question.configured};
  return largest_batch(
             step, device, budget.usable_bytes, bounds,
             sizing == BatchSizing::measured ? BatchSearch::measured : BatchSearch::search)
      .batch;
}

}  // namespace memduel
