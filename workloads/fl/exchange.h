// The barrier between the server's main thread and its clients' handler threads: every client hands
// something in, then every client gets the same answer. A client that is lost releases all waits,
// or is no longer waited for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fl/models.h"
#include "fl/transport.h"
#include "optimizations/sending.h"
#include "transport/chunked_transfer.h"
#include "util/error.h"

namespace memduel {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_in(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

/// What one client hands in: its state, or the stream that it comes on; neither where it only asks.
struct Upload {
  int client = 0;  ///< from 1
  Header header;
  std::optional<State> state;
  std::unique_ptr<ModelStream> stream;
};

struct Answer {
  std::shared_ptr<const PreparedResponse> response;
  Header header;
};

/// What becomes of an exchange that loses a client.
enum class OnLostClient { fail, go_on };

class Exchange {
 public:
  Exchange(int clients, OnLostClient policy, Deadline deadline)
      : clients_(clients), policy_(policy), deadline_(deadline) {}

  // The main thread, in this order, once per exchange. Each throws what fail was told, or lose
  // where the policy is to fail or nobody is left, and Error(cannot_measure) naming the clients
  // that are missing at the deadline.
  void open(const std::string& name);   ///< "round 3": clients may hand in now
  std::vector<Upload> await_uploads();  ///< of those not lost, in order of their clients
  void answer(Answer answer);           ///< the uploads' streams are not read any more
  void await_delivery();                ///< every client's handler has sent its answer
  /// At any time but while it reads the uploads' streams. The first failure is kept and returned.
  Error fail(const Error& error);

  // Handler threads.
  void await_open(int client);
  /// Until every client with a smaller number has handed in, or is lost.
  void await_turn(int client);
  /// Blocks until answered. It throws only once the main thread reads the upload's stream, and so
  /// `call`, no longer: to that end a lost client's call is cancelled at once, and every other one
  /// a moment after the exchange failed.
  Answer hand_in(Upload upload, Call& call);
  void delivered(int client);

  // Any thread.
  /// The client is gone; ignored after leave. Its handlers' waits throw PeerGone. Returns whether
  /// the others now go on without it.
  bool lose(int client, const std::string& why);
  void leave(int client);  ///< the client is done with its run
  void await_all_left();
  /// What the client sent is wrong: fails, naming the exchange.
  void refuse(int client, const Error& why);

 private:
  enum class Step { closed, collecting, averaging, answered };

  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, const std::string& for_what, Condition condition);
  template <class Condition>
  void wait_as(int client, std::unique_lock<std::mutex>& lock, const std::string& for_what,
               Condition condition);
  void await_end_of_average(int client, std::unique_lock<std::mutex>& lock, Call& call);
  /// Whether every client is there, or lost.
  [[nodiscard]] bool complete(const std::set<int>& present) const;
  [[nodiscard]] std::string missing_clients(const std::set<int>& present) const;
  void fail_locked(const Error& error);

  const int clients_;
  const OnLostClient policy_;
  const Deadline deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Step step_ = Step::closed;
  std::string name_ = "start";
  std::vector<Upload> uploads_;
  std::set<int> handed_in_;
  std::set<int> delivered_;
  std::set<int> left_;
  std::set<int> lost_;
  Answer answer_;
  std::optional<Error> failure_;
};

}  // namespace memduel
