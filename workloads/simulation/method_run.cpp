#include "workloads/simulation/method_run.h"

#include <algorithm>

#include "base/metric_catalogue.h"
#include "memduel/annotate.h"
#include "workloads/federated/device.h"
#include "workloads/federated/validate.h"
#include "workloads/simulation/simulated_average.h"

namespace memduel {
namespace {

// CSFL-simulator's emergency cleanup.
constexpr std::size_t kLoadersAfterEmergency = 50;
constexpr int kBatchAfterEmergency = 16;

}  // namespace

MethodRun::MethodRun(const WorkloadConfig& workload, const SimulationSwitches& switches,
                     const SharedSamples& samples, const std::string& method, std::uint64_t seed,
                     int workers)
    : workload_(workload),
      switches_(switches),
      samples_(samples),
      global_(move_to(make_model(workload_.model, seed), at::Device(workload_.device))),
      selection_(make_selection(
          method, {static_cast<std::size_t>(workload_.clients),
                   static_cast<std::size_t>(workload_.simulation.clients_per_round), seed})),
      trainer_(workload_, global_, workers),
      loader_workers_(switches.loader_workers) {
  for (std::size_t client = 0; client < samples.shares.size(); ++client)
    make_loader(client, workload_.batch_size, loader_workers_);
}

void MethodRun::make_loader(std::size_t client, int batch_size, const LoaderChoice& workers) {
  loaders_.emplace(client, ClientLoader(samples_.train, samples_.shares[client],
                                        static_cast<std::size_t>(batch_size), workers));
}

ClientLoader& MethodRun::loader_of(std::size_t client) {
  if (!loaders_.contains(client)) make_loader(client, workload_.batch_size, loader_workers_);
  return loaders_.at(client);
}

std::vector<Turn> MethodRun::next_turns() {
  std::vector<Turn> turns;
  for (const std::size_t client : selection_->next()) {
    turns.push_back({client, &loader_of(client)});
    turns.back().loader->start_workers();
  }
  return turns;
}

void MethodRun::play_round(int round) {
  const at::Device device = device_of(global_);
  begin_phase(device, "train");
  const std::vector<Turn> turns = next_turns();
  // The updates of the round before live until these are there, as the script's variable has them.
  updates_ = trainer_.train(global_, turns, round);
  for (std::size_t i = 0; i < turns.size(); ++i)
    selection_->observe(turns[i].client, updates_[i].last_loss);
  begin_phase(device, "aggregate");
  average();
  begin_phase(device, "validate");
  memduel_gauge(kValidationAccuracy,
                validate(global_, samples_.validation, workload_.validation_batch_size,
                         choose_predictions("reduced")));
}

void MethodRun::average() {
  const State mean = average_updates(switches_.averaging, updates_);
  copy_state(mean, global_.state);
  for (const ClientUpdate& update : updates_) switches_.garbage->hold(update.state);
  switches_.garbage->hold(mean);
  if (switches_.updates == Updates::released) updates_ = {};
}

void MethodRun::emergency() {
  if (switches_.emergency == Emergency::smaller_batches) {
    loaders_.clear();
    loader_workers_ = {};
    const int batch_size = std::min(workload_.batch_size, kBatchAfterEmergency);
    for (std::size_t client = 0; client < std::min(samples_.shares.size(), kLoadersAfterEmergency);
         ++client)
      make_loader(client, batch_size, loader_workers_);
    trainer_.drop_gradients();
    return;
  }
  for (auto& [client, loader] : loaders_) loader.drop_prefetched();
  updates_ = {};
  trainer_.release();
}

}  // namespace memduel
