#include "method_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "client_trainer.h"
#include "fl/roles.h"
#include "fl/training.h"
#include "memduel/annotate.h"
#include "model/metric_catalogue.h"
#include "util/error.h"

namespace memduel {
namespace {

class RandomSelection final : public Selection {
 public:
  explicit RandomSelection(const SelectionOptions& options)
      : options_(options), engine_(options.seed) {}

  std::vector<std::size_t> next() override {
    std::vector<std::size_t> order = random_order(options_.clients, engine_);
    order.resize(options_.per_round);
    return order;
  }

 private:
  SelectionOptions options_;
  RandomEngine engine_;
};

class HighestLoss final : public Selection {
 public:
  explicit HighestLoss(const SelectionOptions& options)
      : per_round_(options.per_round),
        losses_(options.clients, std::numeric_limits<double>::infinity()) {}

  std::vector<std::size_t> next() override {
    std::vector<std::size_t> order(losses_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return losses_[a] > losses_[b]; });
    order.resize(per_round_);
    return order;
  }
  void observe(std::size_t client, double loss) override { losses_[client] = loss; }

 private:
  std::size_t per_round_;
  std::vector<double> losses_;
};

class RoundRobin final : public Selection {
 public:
  explicit RoundRobin(const SelectionOptions& options) : options_(options) {}

  std::vector<std::size_t> next() override {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < options_.per_round; ++i)
      chosen.push_back((first_ + i) % options_.clients);
    first_ = (first_ + options_.per_round) % options_.clients;
    return chosen;
  }

 private:
  SelectionOptions options_;
  std::size_t first_ = 0;
};

struct SelectionMethod {
  const char* name;
  std::unique_ptr<Selection> (*make)(const SelectionOptions&);
};

template <class Kind>
std::unique_ptr<Selection> make_method(const SelectionOptions& options) {
  return std::make_unique<Kind>(options);
}

constexpr SelectionMethod kSelectionMethods[] = {{"random", make_method<RandomSelection>},
                                                 {"highest_loss", make_method<HighestLoss>},
                                                 {"round_robin", make_method<RoundRobin>}};

}  // namespace

std::unique_ptr<Selection> make_selection(const std::string& method,
                                          const SelectionOptions& options) {
  if (options.per_round < 1 || options.per_round > options.clients)
    throw Error(ExitCode::usage,
                fmt::format("expected 1 to {}, the number of clients, found {}", options.clients,
                            options.per_round),
                "workload.clients_per_round");
  for (const SelectionMethod& known : kSelectionMethods)
    if (known.name == method) return known.make(options);
  throw Error(
      ExitCode::usage,
      fmt::format("expected {}, found \"{}\"", fmt::join(selection_methods(), ", "), method),
      "workload.methods");
}

std::vector<std::string> selection_methods() {
  std::vector<std::string> names;
  for (const SelectionMethod& known : kSelectionMethods) names.emplace_back(known.name);
  return names;
}

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
  for (const ClientUpdate& update : updates_)
    switches_.garbage->hold(Cycle::exchanged, update.state);
  switches_.garbage->hold(Cycle::mean, mean);
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
