// A client's local work: training, and the state it sends afterwards.
#pragma once

#include <memory>
#include <optional>

#include "fl/models.h"
#include "fl/training.h"
#include "optimizations/optimizations.h"

namespace memduel {

struct TrainingResult {
  std::optional<double> accuracy;  ///< over the samples trained on; absent without training
  std::optional<double> loss;      ///< mean over the steps
};

class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  virtual ~Trainer() = default;

  /// One round of local work on the model; makes the state to upload.
  virtual TrainingResult train() = 0;

  /// What the last train() made: the trained state, or previous - trained for its parameters; in
  /// main memory.
  [[nodiscard]] virtual const State& upload() const = 0;

  /// The upload is no longer needed.
  virtual void release_upload() = 0;
};

/// Steps of an optimizer over the client's samples. All references must outlive the trainer.
std::unique_ptr<Trainer> make_step_trainer(const WorkloadConfig& workload,
                                           const Optimizations& optimizations, Model& model,
                                           const Samples& samples, std::uint64_t seed);

/// No training: adds client / 1024 to every floating-point entry and client to every integer, in
/// place. All references must outlive the trainer.
std::unique_ptr<Trainer> make_shift_trainer(const WorkloadConfig& workload,
                                            const Optimizations& optimizations, Model& model,
                                            int client);

}  // namespace memduel
