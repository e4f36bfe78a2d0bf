// Where the graphs of a training come from: a file made once for a run.
#pragma once

#include "workloads/federated/worker_config.h"

namespace memduel {

/// The role graphs: makes the file of graphs where it is not there yet. Throws Error(io), also for
/// a file that is there and no such file.
void run_graphs(const WorkerConfig& config);

}  // namespace memduel
