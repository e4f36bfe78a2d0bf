// The roles of a federated trial, where a role computes (the CPU, or a GPU), and what every role
// does before its first round.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "fl/models.h"
#include "fl/worker_config.h"

namespace memduel {

struct Optimizations;

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

/// A role's device as LibTorch's, and for a GPU the one that the probes ask from now on. Throws
/// Error(cannot_measure) where it cannot be used here.
at::Device open_device(const std::string& name);

/// Ends the running phase once the device has done its work, with its tensor peaks, and begins
/// another.
void begin_phase(const at::Device& device, const char* name);

/// Waits until the device has done all that it was asked for, so that the time of a phase is its
/// own. On the CPU there is nothing to wait for.
void await_device(const at::Device& device);

/// What may still be taken there: of the GPU; of the machine, or what its limit leaves.
std::int64_t available_bytes(const at::Device& device);

/// The most arenas of malloc that the switches let a server have, or a client; absent: glibc's own
/// limit. Throws Error(usage) as make_optimizations() does.
std::optional<int> server_arenas(const WorkerConfig& config);
std::optional<int> client_arenas(const WorkerConfig& config);

std::string client_name(int client);  ///< "client-2"

/// Fixes thread counts, installs the probes and does one small tensor operation where the role
/// computes, so that LibTorch's own start-up, and on a GPU its context, belong to the idle level.
/// Returns the device. Throws Error(cannot_measure) where that cannot be used here.
at::Device warm_up(const WorkerConfig& config, const std::string& device);

/// The model of the workload on the role's device, with the same weights in every role.
Model build_model(const WorkerConfig& config, const at::Device& device);

/// The transport's options with the arm's flow control.
TransportOptions transport_options(const WorkerConfig& config, const Optimizations& optimizations);

}  // namespace memduel
