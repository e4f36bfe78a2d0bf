// The clients' calls to a server, each on a thread of its own: what they send goes into the
// exchange that is open, and its answer back to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/federated/busy_time.h"
#include "workloads/federated/exchange.h"
#include "workloads/federated/rounds.h"
#include "workloads/federated/server_connection.h"
#include "workloads/federated/worker_config.h"
#include "workloads/optimizations/call_frame.h"
#include "workloads/optimizations/optimizations.h"
#include "workloads/transport/call.h"
#include "workloads/transport/watchdog.h"

namespace memduel {

/// What the rounds, on the main thread, and the calls have in common.
struct ServerTable {
  const WorkerConfig& config;
  Optimizations optimizations;
  Exchange exchange;
  BusyTime transfer_time;
  Watchdog watchdog;
  std::vector<std::atomic<std::int64_t>> sample_sizes;  ///< of client 1, 2, …
  std::unique_ptr<Rounds> rounds;                       ///< once the model is there
  ChunkPlace chunk = {};                                ///< of the exchange that is open

  /// A client that is gone is told of, and nobody waits for it any longer. Throws where the run
  /// does not go on without one.
  void lose(int client, const std::string& why);
};

class ServerCalls {
 public:
  /// `table` must outlive this.
  explicit ServerCalls(ServerTable& table) : table_(table) {}

  void handle(Method method, Call& call);

 private:
  void send_configuration(Call& call) const;
  void send_initial_model(Call& call);
  void update_global_model(Call& call);
  void invoke_custom_action(Call& call);
  void attend(Call& call, int client);
  [[nodiscard]] int client_number(const Call& call) const;
  [[nodiscard]] double weight_of(int client) const;
  Upload take_upload(int client, Call& call, CallFrame& frame);
  void expect_current_chunk(int client, const Header& header) const;
  void deliver(Call& call, int client, const Answer& answer, CallFrame& frame);
  template <class Work>
  void guard(int client, Work work);

  ServerTable& table_;
};

}  // namespace memduel
