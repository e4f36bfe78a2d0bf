// The switches of a fine-tuning on EEG: what CBraMod's guide and its code do about memory.
#pragma once

#include <nlohmann/json.hpp>

#include "fl/models.h"
#include "fl/training.h"

namespace memduel {

/// cleanup_between_trials: as_implemented empties the device's cache, then collects garbage, while
/// a fine-tuning's objects live; scope_first lets them go before all else.
enum class BetweenTrials { none, as_implemented, scope_first };
/// pruned_trial: what becomes of a fine-tuning that an exception ends.
enum class PrunedTrial { kept_until_collected, cleaned_up };
/// best_state: where the best weights so far are.
enum class BestState { new_copy_on_device, one_copy_on_cpu };
/// memory_baseline: from when on growth counts.
enum class MemoryBaseline { trial, study };
/// on_threshold: what growth beyond memory_threshold_mb leads to.
enum class OnThreshold { nothing, warning, early_stop, smaller_batches };
/// checkpoint_retention: which of the files stay.
enum class CheckpointRetention { all, newest, best };

struct FineTuningSwitches {
  LayerActivations gradient_checkpointing{};
  Precision mixed_precision{};
  int cleanup_every_epochs = 0;  ///< 0: never
  BetweenTrials cleanup_between_trials{};
  PrunedTrial pruned_trial{};
  BestState best_state{};
  int memory_threshold_mb = 0;  ///< of 2^20 bytes
  MemoryBaseline memory_baseline{};
  OnThreshold on_threshold{};
  CheckpointRetention checkpoint_retention{};
  int max_checkpoints = 1;
  int cleanup_older_than_days = 0;
};

/// @param values switch name to value, every switch. Throws Error(usage) naming a switch that is
/// missing, unknown, or has an unknown value.
FineTuningSwitches make_fine_tuning_switches(const nlohmann::json& values);

}  // namespace memduel
