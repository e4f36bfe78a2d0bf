// One fine-tuning of a study, which CBraMod's tuner calls a trial: data, model, optimizer, epochs;
// how good its answers are; and the growth of the resident set against a threshold, as CBraMod's
// MemoryManager looks at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "epoch_file.h"
#include "fine_tuning_switches.h"
#include "fl/training.h"

namespace memduel {

struct Scores {
  double accuracy = 0;
  double kappa = 0;  ///< Cohen's: agreement beyond chance; 0 where chance alone explains it
  double f1 = 0;     ///< mean over the classes that occur, each weighted by how often it does
};

/// Answers against labels: [label][answer].
class Confusion {
 public:
  explicit Confusion(std::size_t classes) : classes_(classes), counts_(classes * classes) {}

  void add(std::size_t label, std::size_t answer) { ++counts_[label * classes_ + answer]; }
  [[nodiscard]] Scores scores() const;

 private:
  [[nodiscard]] double count(std::size_t label, std::size_t answer) const {
    return static_cast<double>(counts_[label * classes_ + answer]);
  }

  std::size_t classes_;
  std::vector<std::int64_t> counts_;
};

class MemoryWatch {
 public:
  using ReadResident = std::function<std::optional<std::int64_t>()>;

  /// @param read bytes that are resident; absent where the system does not say.
  MemoryWatch(const FineTuningSwitches& switches, ReadResident read);

  /// Takes the baseline that growth counts from, if it is a fine-tuning's.
  void trial_begins();

  /// Since the baseline; negative where memory shrank.
  [[nodiscard]] std::optional<std::int64_t> growth() const;
  /// Strictly.
  [[nodiscard]] bool is_above() const;
  [[nodiscard]] std::int64_t threshold() const { return threshold_; }

 private:
  std::int64_t threshold_;
  MemoryBaseline from_;
  ReadResident read_;
  std::optional<std::int64_t> baseline_;
};

/// Of this process.
std::optional<std::int64_t> resident_bytes();

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
