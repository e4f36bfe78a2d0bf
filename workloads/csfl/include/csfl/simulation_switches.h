// The switches of a simulation: what CSFL-simulator's generations do differently with memory.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "csfl/client_loader.h"
#include "fl/state_lifetimes.h"

namespace memduel {

/// updates: how long the clients' states of a round live.
enum class Updates { kept_until_next_round, released };
/// averaging: how FedAvg adds them up; the same products and sums in the same order.
enum class Averaging { new_tensor_each_step, in_place };
/// between_methods: what becomes of a method's loaders, replicas and states once it is over.
enum class BetweenMethods { kept, cleaned_up };
/// heap_cleanup: what cleanups do with free heap.
enum class FreeHeap { left_alone, given_back };
/// memory_check: whose memory is looked at.
enum class MemoryCheck { none, whole_system, own_limit };
/// emergency: what happens at the critical level. smaller_batches changes what is computed.
enum class Emergency { none, smaller_batches, same_batches };

struct SimulationSwitches {
  LoaderChoice loader_workers;
  Updates updates{};
  Averaging averaging{};
  BetweenMethods between_methods{};
  int light_cleanup_rounds = 0;  ///< 0: none
  int heavy_cleanup_rounds = 0;  ///< likewise
  FreeHeap heap_cleanup{};
  MemoryCheck memory_check{};
  int memory_check_rounds = 1;
  int warn_percent = 0;
  int critical_percent = 0;
  Emergency emergency{};
  std::unique_ptr<Garbage> garbage;
  std::optional<int> arenas;
};

/// @param values switch name to value, every switch. Throws Error(usage) naming a switch that is
/// missing, unknown, or has an unknown value.
SimulationSwitches make_simulation_switches(const nlohmann::json& values);

}  // namespace memduel
