#include "workloads/budget/probed_training.h"
#include "workloads/budget/sample_cycle.h"
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
        model_(build_model(config, device)),
        model_bytes_(live_bytes(device) - before_ - data_bytes_),
        optimizer_(make_optimizer(config.workload, model_)),
        optimizer_states_(config.workload.optimizer == "adam" ? 2 : 0),
        cycle_(samples_.count()) {
    model_.network->train();
  }

  void step(std::int64_t batch) override {
    const Batch samples = samples_.batch(cycle_.next(batch)).on(device_of(model_));
    static_cast<void>(training_step(*model_.network, *optimizer_, samples));
  }

  [[nodiscard]] std::vector<torch::Tensor> parameters() const override {
    return model_.network->parameters();
  }

  [[nodiscard]] BudgetParts from_shapes() const override {
    BudgetParts parts =
        parts_of(static_cast<double>(parameter_count(model_)) * sizeof(float), optimizer_states_);
    parts.sample_bytes = sample_bytes(samples_);
    return parts;
  }

  [[nodiscard]] HeldBytes held() const override { return {data_bytes_, model_bytes_, 0}; }

 private:
  double before_;
  Samples samples_;
  double data_bytes_;
  Model model_;
  double model_bytes_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  double optimizer_states_;
  SampleCycle cycle_;
};

}  // namespace

std::unique_ptr<ProbedTraining> make_image_training(const WorkerConfig& config,
                                                    const at::Device& device) {
  return std::make_unique<ImageTraining>(config, device);
}

}  // namespace memduel
