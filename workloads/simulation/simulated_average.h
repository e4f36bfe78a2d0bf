// FedAvg over the clients of a simulated round.
#pragma once

#include <vector>

#include "workloads/simulation/client_trainer.h"
#include "workloads/simulation/switches.h"

namespace memduel {

/// The mean of the updates, weighted by their samples; equally where none has any. Products first,
/// then sums, in the updates' order: the same bits in either way. There must be an update.
State average_updates(Averaging averaging, const std::vector<ClientUpdate>& updates);

}  // namespace memduel
