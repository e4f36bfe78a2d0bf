// A fine-tuning as `memduel budget --measured` runs it (budget/largest_batch.h).

#include <limits>

#include "budget/largest_batch.h"
#include "fine_tuning.h"
#include "fl/models.h"
#include "fl/training.h"

namespace memduel {
namespace {

/// Whatever a step is given goes through the network at once.
WorkloadConfig undivided(WorkloadConfig workload) {
  workload.batch_size = std::numeric_limits<int>::max();
  return workload;
}

/// A study's first fine-tuning after its first epoch, when it remembers a best state.
class EegTraining final : public ProbedTraining {
 public:
  EegTraining(const WorkerConfig& config, const at::Device& device)
      : workload_(undivided(config.workload)),
        switches_(make_fine_tuning_switches(config.optimizations)),
        data_(config.trial_dir / "epochs.bin", workload_, config.data_dir),
        watch_(switches_, [] { return std::optional<std::int64_t>(); }),
        before_(live_bytes(device)),
        tuning_(workload_, switches_, data_, watch_, /*number=*/1, config.seed),
        cycle_(tuning_.training_samples().count()) {
    expect_precision(switches_.mixed_precision, device);
    if (device.is_cpu()) held_.data = static_cast<double>(tuning_.result().parts.data);
    held_.model = live_bytes(device) - before_ - held_.data;
    tuning_.keep_state();
    held_.other_weights = live_bytes(device) - before_ - held_.data - held_.model;
  }

  void step(std::int64_t batch) override { tuning_.step(cycle_.next(batch)); }

  [[nodiscard]] std::vector<torch::Tensor> parameters() const override {
    return tuning_.parameters();
  }

  [[nodiscard]] BudgetParts from_shapes() const override {
    BudgetParts parts =
        parts_of(static_cast<double>(tuning_.result().parts.parameters), /*optimizer_states=*/2);
    parts.sample_bytes = sample_bytes(tuning_.training_samples());
    if (held_.other_weights > 0)
      parts.other_weight_bytes = static_cast<double>(state_bytes(tuning_.state()));
    return parts;
  }

  [[nodiscard]] HeldBytes held() const override { return held_; }

 private:
  WorkloadConfig workload_;
  FineTuningSwitches switches_;
  EpochFile data_;
  MemoryWatch watch_;  ///< sees nothing, so that no threshold changes a step
  double before_;
  FineTuning tuning_;
  SampleCycle cycle_;
  HeldBytes held_;
};

}  // namespace

std::unique_ptr<ProbedTraining> make_eeg_training(const WorkerConfig& config,
                                                  const at::Device& device) {
  return std::make_unique<EegTraining>(config, device);
}

}  // namespace memduel
