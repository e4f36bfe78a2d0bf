// How many clients CSFL-simulator trains at once: its published settings, its code's rule, and what
// the memory budget gives. Sources: the simulator's MEMORY_MANAGEMENT.md and
// csfl_simulator/core/parallel.py at 0399456.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memduel {

/// The most that CSFL-simulator trains at once by itself.
inline constexpr int kMostAutomatic = 8;

/// Bytes of a client by its code: a replica, its gradients, and as much again twice; four states.
std::int64_t formula_client_bytes(std::int64_t state_bytes);

/// Bytes of a client with gradients by its guide's table; absent for a model that this lacks.
std::optional<std::int64_t> published_client_bytes(const std::string& model);

/// What one client takes.
struct ClientBytes {
  std::int64_t state = 0;
  std::optional<std::int64_t> measured = std::nullopt;   ///< of tensors, while one trained
  std::optional<std::int64_t> published = std::nullopt;  ///< published_client_bytes
};

/// How many clients train at once. @param requested 0 and 1: one after the other; -1: as many as
/// 60% of the available memory hold by formula_client_bytes, one at least, `most` at most; any
/// other number: that many. Throws Error(usage) with the arithmetic where a number does not fit,
/// by the formula or, which holds more, as measured.
int clients_at_once(int requested, const ClientBytes& client, std::int64_t available_bytes,
                    int most);

/// What the guide recommends for any model on a device of one size: numbers and ranges, as it
/// gives them.
struct PublishedSettings {
  const char* total_clients;
  const char* clients_per_round;
  const char* safe_rounds;
};

struct ParallelClients {
  std::string model;
  double device_bytes = 0;
  int published = 0;                ///< for any model on a device of this size
  std::int64_t as_implemented = 0;  ///< clients_at_once of the whole device
  std::int64_t estimated = 0;       ///< the budget's batch with a client as the sample, 1 to 8
  PublishedSettings settings{};
};

/// csfl-cnn, csfl-light-cnn and resnet18 on every device of the published table: 4, 8, 12 and
/// 16 GB.
std::vector<ParallelClients> parallel_clients();

}  // namespace memduel
