// How many graphs a step takes, by each value of switch batch_size.
#pragma once

#include <optional>

#include "training/graph_models.h"
#include "workloads/budget/largest_batch.h"
#include "workloads/graph_training/switches.h"

namespace memduel {

struct BatchQuestion {
  const GraphModel& model;
  std::int64_t identifiers = 0;
  std::int64_t teacher_bytes = 0;
  double nodes = 0;  ///< of a graph that few are larger than
  double edges = 0;
  std::int64_t configured = 0;  ///< fixed: the answer, else the most
  double device_bytes = 0;      ///< of which the model's utilization may be used
  Precision precision{};
};

/// @param step runs a training step of the same network; measured and searched call it.
std::int64_t choose_batch(BatchSizing sizing, const BatchQuestion& question,
                          const TrainingStep& step, const at::Device& device);

}  // namespace memduel
