// The role of a simulation: all clients in one process, one selection method after the other.
#pragma once

#include "fl/worker_config.h"

namespace memduel {

/// Plays rounds × repeats × methods, counted through, and writes the last global model. Warnings
/// about memory go to standard error with their round, and are gauges of it. Throws Error.
void run_simulator(const WorkerConfig& config);

}  // namespace memduel
