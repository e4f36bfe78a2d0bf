#include "trainer.h"

#include "fl/training.h"

namespace memduel {
namespace {

/// The state to send, as both trainers make it.
class UploadMaker {
 public:
  UploadMaker(const Optimizations& optimizations, const Model& model, bool send_gradient)
      : optimizations_(optimizations), model_(model), send_gradient_(send_gradient) {}

  void before_training() {
    if (send_gradient_) previous_ = optimizations_.state_snapshot->take(model_.state);
  }

  void after_training() {
    make_upload(optimizations_.upload_state->take(model_.state));
    // As APPFL's trainer: what is sent leaves the device, one tensor after the other.
    for (NamedTensor& entry : upload_) entry.tensor = on_cpu(entry.tensor);
  }

  [[nodiscard]] const State& upload() const { return upload_; }
  void release() { upload_.clear(); }

 private:
  void make_upload(State trained) {
    if (!send_gradient_) {
      upload_ = std::move(trained);
      return;
    }
    upload_ = optimizations_.pseudo_gradient->compute(previous_, trained, model_.parameters);
    if (optimizations_.previous_state == PreviousState::dropped_after_gradient) previous_.clear();
  }

  const Optimizations& optimizations_;
  const Model& model_;
  bool send_gradient_;
  State previous_;
  State upload_;
};

class StepTrainer final : public Trainer {
 public:
  StepTrainer(const WorkloadConfig& workload, const Optimizations& optimizations, Model& model,
              const Samples& samples, std::uint64_t seed)
      : workload_(workload),
        optimizations_(optimizations),
        model_(model),
        batches_(samples, workload.batch_size, seed),
        uploads_(optimizations, model, workload.send_gradient) {}

  TrainingResult train() override {
    uploads_.before_training();
    model_.network->train();
    batches_.restart();
    if (!optimizer_ || optimizations_.optimizer_state == OptimizerState::new_each_round)
      optimizer_ = make_optimizer(workload_, model_);
    const TrainingResult result = run_steps();
    if (optimizations_.optimizer_state == OptimizerState::new_each_round) optimizer_.reset();
    uploads_.after_training();
    return result;
  }

  [[nodiscard]] const State& upload() const override { return uploads_.upload(); }
  void release_upload() override { uploads_.release(); }

 private:
  TrainingResult run_steps() {
    const std::unique_ptr<Predictions> predictions = optimizations_.make_predictions();
    double loss_sum = 0;
    for (int step = 0; step < workload_.local_steps; ++step) {
      const Batch batch = batches_.next().on(device_of(model_));
      const StepResult result = training_step(*model_.network, *optimizer_, batch);
      loss_sum += result.loss.item<double>();
      predictions->add(result.scores, batch.labels);
    }
    return {predictions->accuracy(), loss_sum / workload_.local_steps};
  }

  const WorkloadConfig& workload_;
  const Optimizations& optimizations_;
  Model& model_;
  BatchStream batches_;
  UploadMaker uploads_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

class ShiftTrainer final : public Trainer {
 public:
  ShiftTrainer(const Optimizations& optimizations, Model& model, int client, bool send_gradient)
      : model_(model), client_(client), uploads_(optimizations, model, send_gradient) {}

  TrainingResult train() override {
    const torch::NoGradGuard no_grad;
    uploads_.before_training();
    for (const NamedTensor& entry : model_.state) {
      if (entry.tensor.is_floating_point())
        entry.tensor.detach().add_(client_ / 1024.0);
      else
        entry.tensor.detach().add_(client_);
    }
    uploads_.after_training();
    return {};
  }

  [[nodiscard]] const State& upload() const override { return uploads_.upload(); }
  void release_upload() override { uploads_.release(); }

 private:
  Model& model_;
  int client_;
  UploadMaker uploads_;
};

}  // namespace

std::unique_ptr<Trainer> make_step_trainer(const WorkloadConfig& workload,
                                           const Optimizations& optimizations, Model& model,
                                           const Samples& samples, std::uint64_t seed) {
  return std::make_unique<StepTrainer>(workload, optimizations, model, samples, seed);
}

std::unique_ptr<Trainer> make_shift_trainer(const WorkloadConfig& workload,
                                            const Optimizations& optimizations, Model& model,
                                            int client) {
  return std::make_unique<ShiftTrainer>(optimizations, model, client, workload.send_gradient);
}

}  // namespace memduel
