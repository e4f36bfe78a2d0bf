// Where the graphs of a training come from: a file made once for a run.
#pragma once

#include "workloads/federated/worker_config.h"

namespace memduel {

/// The role graphs: makes the run's own file of graphs where it is not there yet, and again where
/// it is cut off or has a number in it that no training takes. Throws Error(io).
void run_graphs(const WorkerConfig& config);

}  // namespace memduel
