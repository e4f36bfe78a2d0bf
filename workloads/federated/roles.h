// The roles of a federated trial.
#pragma once

#include <filesystem>

#include "workloads/federated/worker_config.h"

namespace memduel {

/// Serves all rounds, writes the address file, the rounds' marks and the final model. Throws Error
/// when a client is lost, a deadline passes or something received is malformed.
void run_server(const WorkerConfig& config);

/// @param index from 1 to the number of clients. In a swarm, where there is no server, it also
/// serves every round that it is the aggregator of: round r is that of client (r - 1) mod clients
/// + 1, as far as the clients go.
void run_client(const WorkerConfig& config, int index);

/// Where clients find the aggregator of a round: the server's address file, or that of the client
/// beside it.
std::filesystem::path address_file_for(const WorkerConfig& config, int aggregator);

}  // namespace memduel
