// One fine-tuning of a study, which CBraMod's tuner calls a trial: data, model, optimizer, epochs.
#pragma once

#include <functional>
#include <memory>

#include "workloads/federated/samples.h"
#include "workloads/fine_tuning/epoch_file.h"
#include "workloads/fine_tuning/memory_watch.h"
#include "workloads/fine_tuning/scores.h"
#include "workloads/fine_tuning/switches.h"
#include "workloads/probes/parts.h"

namespace memduel {

struct FineTuningResult {
  Scores scores;  ///< of the best epoch
  int best_epoch = 0;
  int epochs = 0;  ///< that were trained
  bool stopped = false;
  std::size_t samples_at_once = 0;  ///< of a batch, at the end
  TrainingParts parts;
};

class FineTuning {
 public:
  /// Loads the data and builds the model. All references must outlive it. @param number from 1.
  FineTuning(const WorkloadConfig& workload, const FineTuningSwitches& switches,
             const EpochFile& data, const MemoryWatch& watch, int number, std::uint64_t seed);

  /// Trains until the last epoch, until the score stops rising, or until the threshold stops it;
  /// the model ends as it was in its best epoch. `clean_up` is called when cleanup_every_epochs is
  /// due.
  void train(const std::function<void()>& clean_up);

  /// One step of the optimizer with these samples of those to train on.
  void step(const std::vector<std::size_t>& indices);
  /// Remembers the model as it is for the best so far.
  void keep_state();

  [[nodiscard]] FineTuningResult result() const;
  [[nodiscard]] const State& state() const { return model_.state; }
  [[nodiscard]] const Samples& training_samples() const { return train_; }
  [[nodiscard]] const std::vector<torch::Tensor>& parameters() const { return parameters_; }

 private:
  void train_epoch();
  void train_part(const std::vector<std::size_t>& indices, double share);
  void react_to_threshold();
  [[nodiscard]] Scores evaluate() const;

  const WorkloadConfig& workload_;
  const FineTuningSwitches& switches_;
  const MemoryWatch& watch_;
  Samples train_;
  Samples validation_;
  Model model_;
  std::vector<torch::Tensor> parameters_;
  double learning_rate_;
  torch::optim::AdamW optimizer_;
  LossScaler scaler_;
  RandomEngine order_;
  State best_state_;
  std::size_t samples_at_once_;
  bool above_threshold_ = false;
  FineTuningResult result_;
};

}  // namespace memduel
