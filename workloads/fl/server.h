// The server's side of rounds: a role of its own, or a part of a swarm's client.
#pragma once

#include <memory>
#include <string>

#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/worker_config.h"
#include "util/error.h"

namespace memduel {

/// Which rounds a server serves.
struct ServerTurns {
  int first = 1;
  int every = 1;
  [[nodiscard]] bool serves(int round) const {
    return round >= first && (round - first) % every == 0;
  }
};

class ServerPart {
 public:
  ServerPart() = default;
  ServerPart(const ServerPart&) = delete;
  ServerPart& operator=(const ServerPart&) = delete;
  virtual ~ServerPart() = default;

  /// Where clients find it: listening since it was made.
  [[nodiscard]] virtual std::string address() const = 0;
  /// Builds the model; once, before run().
  virtual void prepare() = 0;
  /// Serves its rounds until every client has left, and writes the final model where it served the
  /// last one. Throws Error as run_server does.
  virtual void run() = 0;
  /// Ends run(), from another thread.
  virtual void abort(const Error& why) = 0;
};

/// @param config must outlive the result, as must `cleanup_time`, the process's. In a swarm its
/// process's marks are the client's: it sends none itself, but what it measures of its rounds.
std::unique_ptr<ServerPart> make_server_part(const WorkerConfig& config, const at::Device& device,
                                             const ServerTurns& turns, CleanupTime& cleanup_time);

}  // namespace memduel
