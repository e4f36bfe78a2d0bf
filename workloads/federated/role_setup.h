// What both roles do before their first round.
#pragma once

#include <string>

#include "workloads/federated/worker_config.h"
#include "workloads/models/model.h"
#include "workloads/optimizations/optimizations.h"

namespace memduel {

std::string client_name(int client);  ///< "client-2"

/// Fixes thread counts, installs the tensor probe and does one small tensor operation, so that
/// LibTorch's own start-up belongs to the idle level.
void warm_up(const WorkerConfig& config);

/// The model of the workload, with the same weights in every role.
Model build_model(const WorkerConfig& config);

/// The transport's options with the arm's flow control.
TransportOptions transport_options(const WorkerConfig& config, const Optimizations& optimizations);

}  // namespace memduel
