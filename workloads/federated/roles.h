// The two roles of a federated trial.
#pragma once

#include "workloads/federated/worker_config.h"

namespace memduel {

/// Serves all rounds, writes the address file, the rounds' marks and the final model. Throws Error
/// when a client is lost, a deadline passes or something received is malformed.
void run_server(const WorkerConfig& config);

/// @param index from 1 to the number of clients.
void run_client(const WorkerConfig& config, int index);

}  // namespace memduel
