// What CSFL-simulator's guide expects a simulated client to take, and what it derives from that.
// docs/long-runs.md has the measured numbers beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memduel {

/// Bytes of one client in device memory, by the guide's table.
struct ClientEstimate {
  std::int64_t base_bytes = 0;
  std::int64_t with_gradients_bytes = 0;
};
/// Absent for a model that the table does not have.
std::optional<ClientEstimate> published_estimate(const std::string& model);

/// By its code: a replica, its gradients, and as much again twice; four states.
std::int64_t formula_client_bytes(std::int64_t state_bytes);

/// Settings that the guide recommends for a device; absent rounds: any number.
struct RecommendedSettings {
  int least_clients = 0;
  int most_clients = 0;
  int least_per_round = 0;
  int most_per_round = 0;
  int parallel_clients = 0;
  std::optional<int> most_rounds;
};
/// The row of the largest device that is no larger than this one; absent below 4 GiB.
std::optional<RecommendedSettings> recommended_settings(std::int64_t device_bytes);

/// How many clients train at once. @param requested 0 and 1: one after the other; -1: as many as
/// 60 % of the available memory hold by formula_client_bytes, one at least, `most` at most; any
/// other number: that many. Throws Error(usage) with the arithmetic where a number does not fit.
int parallel_clients(int requested, std::int64_t state_bytes, std::int64_t available_bytes,
                     int most);

/// The most that CSFL-simulator trains at once by itself.
inline constexpr int kMostAutomatic = 8;

}  // namespace memduel
