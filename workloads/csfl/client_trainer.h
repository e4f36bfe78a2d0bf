// Trains simulated clients in one process: one after the other on one copy of the model, or several
// at once, each worker on a replica of its own. Either way a client ends in the same bits. FedAvg
// makes one state of what they trained.
#pragma once

#include <vector>

#include "csfl/client_loader.h"
#include "csfl/simulation_switches.h"
#include "fl/models.h"
#include "fl/worker_config.h"

namespace memduel {

struct ClientUpdate {
  State state;
  std::int64_t samples = 0;
  double last_loss = 0;
};

/// A client to train.
struct Turn {
  std::size_t client = 0;
  ClientLoader* loader = nullptr;
};

class ClientTrainer {
 public:
  /// @param workers at once. Two or more make their replicas now, one makes its copy when it first
  /// trains. The config must outlive the trainer.
  ClientTrainer(const WorkloadConfig& workload, const Model& global, int workers);

  /// From the global state; the updates in the order of the turns. @param round seeds the batches.
  std::vector<ClientUpdate> train(const Model& global, const std::vector<Turn>& turns, int round);

  /// What training one client took of tensor memory, its copy of the model included, as the torch
  /// meter counts; 0 before the first client and without the meter.
  [[nodiscard]] std::int64_t measured_client_bytes() const { return measured_bytes_; }

  /// Lets go of the gradients.
  void drop_gradients();
  /// Lets go of the replicas; train() makes new ones.
  void release();

 private:
  void make_replicas(const Model& global);
  [[nodiscard]] ClientUpdate train_one(Model& replica, const Model& global, const Turn& turn,
                                       int round) const;
  void train_group(const Model& global, const std::vector<Turn>& turns, std::size_t first,
                   int round, std::vector<ClientUpdate>& updates);

  const WorkloadConfig& workload_;
  std::size_t workers_;
  std::vector<Model> replicas_;
  std::int64_t measured_bytes_ = 0;
};

// FedAvg over the clients of a simulated round.

/// The mean of the updates, weighted by their samples; equally where none has any. Products first,
/// then sums, in the updates' order: the same bits in either way. There must be an update.
State average_updates(Averaging averaging, const std::vector<ClientUpdate>& updates);

}  // namespace memduel
