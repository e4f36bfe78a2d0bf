// The clients' calls to a server, each on a thread of its own: what they send goes into the
// exchange that is open, and its answer back to them. Also the time that at least one of these
// threads works.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "exchange.h"
#include "fl/transport.h"
#include "fl/worker_config.h"
#include "optimizations/optimizations.h"
#include "optimizations/sending.h"
#include "rounds.h"
#include "server_connection.h"
#include "transport/watchdog.h"

namespace memduel {

class BusyTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// Counts as work from its construction to its end.
  class Working {
   public:
    explicit Working(BusyTime& time) : time_(time) { time_.begin(Clock::now()); }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;
    ~Working() { time_.end(Clock::now()); }

   private:
    BusyTime& time_;
  };

  void begin(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (workers_++ == 0) since_ = now;
  }

  void end(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (--workers_ == 0) total_ += now - since_;
  }

  /// The time since the last call; nobody is working now.
  std::chrono::duration<double> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(total_, Clock::duration::zero());
  }

 private:
  std::mutex mutex_;
  int workers_ = 0;
  Clock::time_point since_;
  Clock::duration total_ = Clock::duration::zero();
};

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
