// One selection method of a simulation, once: which clients take part in a round, and its loaders,
// replicas, states and rounds.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client_trainer.h"
#include "csfl/simulation_switches.h"
#include "data/random.h"
#include "fl/training.h"

namespace memduel {

class Selection {
 public:
  Selection() = default;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  virtual ~Selection() = default;

  /// Different clients, counted from 0; as many as it was made for.
  virtual std::vector<std::size_t> next() = 0;
  /// What a client's last batch lost.
  virtual void observe(std::size_t /*client*/, double /*loss*/) {}
};

struct SelectionOptions {
  std::size_t clients = 0;
  std::size_t per_round = 0;  ///< at most `clients`
  std::uint64_t seed = 1;
};

/// @param method random; highest_loss: those whose last loss was highest, clients without one
/// first; round_robin: one after the other. Throws Error(usage) for another, and for more per round
/// than there are.
std::unique_ptr<Selection> make_selection(const std::string& method,
                                          const SelectionOptions& options);
std::vector<std::string> selection_methods();

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
