// The role trainer of a training on graphs: an autoencoder on traffic without attacks, a teacher on
// what that finds hard, a student that learns from both. One process; an epoch is a round.
#pragma once

#include "workloads/federated/worker_config.h"

namespace memduel {

/// Trains over config.graph_file, which must be there, and writes the student. Throws Error.
void run_graph_trainer(const WorkerConfig& config);

}  // namespace memduel
