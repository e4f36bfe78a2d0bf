// The roles of a training on graphs. graphs: makes the file of graphs once for a run. trainer: an
// autoencoder on traffic without attacks, a teacher on what that finds hard, a student that learns
// from both. One process; an epoch is a round.
#pragma once

#include "fl/worker_config.h"

namespace memduel {

/// The role graphs: makes the run's own file of graphs where it is not there yet, and again where
/// it is cut off or has a number in it that no training takes. Throws Error(io).
void run_graphs(const WorkerConfig& config);

/// Trains over config.graph_file, which must be there, and writes the student. Throws Error.
void run_graph_trainer(const WorkerConfig& config);

}  // namespace memduel
