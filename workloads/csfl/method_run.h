// One selection method of a simulation, once: its loaders, replicas, states and rounds.
#pragma once

#include <map>
#include <memory>

#include "workloads/federated/samples.h"
#include "workloads/simulation/client_trainer.h"
#include "workloads/simulation/selection.h"
#include "workloads/simulation/switches.h"

namespace memduel {

class MethodRun {
 public:
  /// @param workers that train at once. All references must outlive the run.
  MethodRun(const WorkloadConfig& workload, const SimulationSwitches& switches,
            const SharedSamples& samples, const std::string& method, std::uint64_t seed,
            int workers);

  /// Selects, trains, averages and validates. @param round of the whole simulation, from 1.
  void play_round(int round);

  /// Lets go of what can be made anew. Under smaller_batches the first 50 loaders are made anew
  /// with batches of at most 16 and without workers, and all others without workers.
  void emergency();

  /// Of the global model.
  [[nodiscard]] const State& state() const { return global_.state; }
  [[nodiscard]] const ClientTrainer& trainer() const { return trainer_; }

 private:
  ClientLoader& loader_of(std::size_t client);
  void make_loader(std::size_t client, int batch_size, const LoaderChoice& workers);
  [[nodiscard]] std::vector<Turn> next_turns();
  void average();

  const WorkloadConfig& workload_;
  const SimulationSwitches& switches_;
  const SharedSamples& samples_;
  Model global_;
  std::unique_ptr<Selection> selection_;
  ClientTrainer trainer_;
  std::map<std::size_t, ClientLoader> loaders_;
  LoaderChoice loader_workers_;
  std::vector<ClientUpdate> updates_;
};

}  // namespace memduel
