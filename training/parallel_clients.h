// How many clients CSFL-simulator trains at once on a GPU: its published settings, its code's rule,
// and what the memory budget gives. Sources: the simulator's MEMORY_MANAGEMENT.md and
// csfl_simulator/core/parallel.py at 0399456.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memduel {

/// A model of the simulator: its parameters, and what its guide says that a client needs with
/// gradients.
struct SimulatedModel {
  std::string name;
  std::int64_t parameters = 0;
  double client_bytes = 0;
};

/// cnn-mnist, light-cnn, resnet18.
const std::vector<SimulatedModel>& simulated_models();

struct ParallelClients {
  std::string model;
  double device_bytes = 0;
  int published = 0;           ///< for any model on a device of this size
  std::int64_t as_coded = 0;   ///< 0.6 of the device by four times the parameters, 1 to 8
  std::int64_t estimated = 0;  ///< the budget's batch with a client as the sample, 1 to 8
};

/// Every model on every device of the published table: 4, 8, 12 and 16 GB.
std::vector<ParallelClients> parallel_clients();

}  // namespace memduel
