#include "workloads/budget/probed_training.h"
#include "workloads/federated/role_setup.h"
#include "workloads/federated/training_step.h"
#include "workloads/probes/device_bytes.h"

namespace memduel {
namespace {

/// Every sample that a process of the workload trains on.
Samples training_samples(const WorkerConfig& config) {
  if (config.workload.kind == "simulation") return load_shared_samples(config).train;
  return load_samples(config, /*client=*/1).train;
}

class ImageTraining final : public ProbedTraining {
 public:
  ImageTraining(const WorkerConfig& config, const at::Device& device)
      : before_(live_bytes(device)),
        samples_(training_samples(config)),
        data_bytes_(live_bytes(device) - before_),
        model_(build_model(config)),
        model_bytes_(live_bytes(device) - before_ - data_bytes_),
        optimizer_(make_optimizer(config.workload, model_)),
        optimizer_states_(config.workload.optimizer == "adam" ? 2 : 0) {
    model_.network->train();
  }

  void step(std::int64_t batch) override {
    const Batch samples = samples_.batch(next_indices(batch)).on(device_of(model_));
    static_cast<void>(training_step(*model_.network, *optimizer_, samples));
  }

  [[nodiscard]] std::vector<torch::Tensor> parameters() const override {
    return model_.network->parameters();
  }

  [[nodiscard]] BudgetParts from_shapes() const override {
    BudgetParts parts;
    parts.parameter_bytes = static_cast<double>(parameter_count(model_)) * sizeof(float);
    parts.gradient_bytes = parts.parameter_bytes;
    parts.optimizer_bytes = optimizer_states_ * parts.parameter_bytes;
    const Batch one = samples_.slice(0, 1);
    parts.sample_bytes = static_cast<double>(one.images.nbytes() + one.labels.nbytes());
    return parts;
  }

  [[nodiscard]] double data_bytes() const override { return data_bytes_; }
  [[nodiscard]] double model_bytes() const override { return model_bytes_; }

 private:
  /// The samples in their order, over and over.
  std::vector<std::size_t> next_indices(std::int64_t count) {
    std::vector<std::size_t> indices(static_cast<std::size_t>(count));
    for (std::size_t& index : indices) {
      index = position_;
      position_ = (position_ + 1) % static_cast<std::size_t>(samples_.count());
    }
    return indices;
  }

  double before_;
  Samples samples_;
  double data_bytes_;
  Model model_;
  double model_bytes_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  double optimizer_states_;
  std::size_t position_ = 0;
};

}  // namespace

std::unique_ptr<ProbedTraining> make_image_training(const WorkerConfig& config,
                                                    const at::Device& device) {
  return std::make_unique<ImageTraining>(config, device);
}

}  // namespace memduel
