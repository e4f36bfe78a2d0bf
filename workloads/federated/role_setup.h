// What both roles do before their first round.
#pragma once

#include <string>

#include "workloads/federated/device.h"
#include "workloads/federated/worker_config.h"
#include "workloads/models/model.h"
#include "workloads/optimizations/optimizations.h"

namespace memduel {

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
