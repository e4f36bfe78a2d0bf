// The clients of a simulated round: their training, and FedAvg over what they trained.

#include "client_trainer.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <future>
#include <limits>
#include <optional>

#include "fl/roles.h"
#include "fl/state_lifetimes.h"
#include "fl/training.h"

namespace memduel {
namespace {

/// fast_mode stops an epoch after its third batch.
constexpr std::size_t kFastBatches = 3;
/// Of a client's batches: round × this + client, as CSFL-simulator seeds them.
constexpr std::uint64_t kSeedsPerRound = 10000;

/// On a GPU the thread's work goes into a stream of its own while this lives, as CSFL-simulator's
/// does. The caching allocator keeps free blocks apart for each stream.
class OwnStream {
 public:
  explicit OwnStream(const at::Device& device) : device_(device) {
    if (!device.is_cuda()) return;
    const c10::impl::VirtualGuardImpl streams(device.type());
    guard_.emplace(streams.getStreamFromGlobalPool(device));
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() { await_device(device_); }

 private:
  at::Device device_;
  std::optional<c10::StreamGuard> guard_;
};

}  // namespace

ClientTrainer::ClientTrainer(const WorkloadConfig& workload, const Model& global, int workers)
    : workload_(workload), workers_(static_cast<std::size_t>(std::max(workers, 1))) {
  if (workers_ > 1) make_replicas(global);
}

void ClientTrainer::make_replicas(const Model& global) {
  while (replicas_.size() < workers_)
    replicas_.push_back(move_to(make_model(workload_.model, 0), device_of(global)));
}

ClientUpdate ClientTrainer::train_one(Model& replica, const Model& global, const Turn& turn,
                                      int round) const {
  // OpenMP counts threads per calling thread.
  torch::set_num_threads(workload_.threads);
  copy_state(global.state, replica.state);
  replica.network->train();
  const auto optimizer = make_optimizer(workload_, replica);
  ClientUpdate update;
  update.samples = turn.loader->count();
  const std::size_t most =
      workload_.simulation.fast_mode ? kFastBatches : std::numeric_limits<std::size_t>::max();
  const std::uint64_t seed = static_cast<std::uint64_t>(round) * kSeedsPerRound + turn.client;
  for (int epoch = 0; epoch < workload_.simulation.local_epochs; ++epoch)
    turn.loader->epoch(seed + static_cast<std::uint64_t>(epoch), most, [&](const Batch& on_cpu) {
      const Batch batch = on_cpu.on(device_of(replica));
      update.last_loss = training_step(*replica.network, *optimizer, batch).loss.item<double>();
    });
  update.state = make_upload_state("clone_detach")->take(replica.state);
  return update;
}

void ClientTrainer::train_group(const Model& global, const std::vector<Turn>& turns,
                                std::size_t first, int round, std::vector<ClientUpdate>& updates) {
  const std::size_t count = std::min(workers_, turns.size() - first);
  if (count == 1) {
    updates[first] = train_one(replicas_.front(), global, turns[first], round);
    return;
  }
  std::vector<std::future<ClientUpdate>> running;
  await_device(device_of(global));
  for (std::size_t i = 0; i < count; ++i)
    running.push_back(std::async(std::launch::async, [&, i] {
      const OwnStream stream(device_of(global));
      return train_one(replicas_[i], global, turns[first + i], round);
    }));
  for (std::size_t i = 0; i < count; ++i) updates[first + i] = running[i].get();
}

std::vector<ClientUpdate> ClientTrainer::train(const Model& global, const std::vector<Turn>& turns,
                                               int round) {
  make_replicas(global);
  const at::Device device = device_of(global);
  reset_peak_bytes(device);
  const double before = live_bytes(device);
  std::vector<ClientUpdate> updates(turns.size());
  for (std::size_t first = 0; first < turns.size(); first += workers_) {
    train_group(global, turns, first, round, updates);
    if (first > 0) continue;
    const double peak = peak_bytes(device);
    const auto trained = static_cast<double>(std::min(workers_, turns.size()));
    if (peak > before)
      measured_bytes_ = static_cast<std::int64_t>((peak - before) / trained) +
                        static_cast<std::int64_t>(state_bytes(global.state));
  }
  return updates;
}

void ClientTrainer::drop_gradients() {
  for (const Model& replica : replicas_)
    for (torch::Tensor& parameter : replica.network->parameters())
      parameter.mutable_grad() = torch::Tensor();
}

void ClientTrainer::release() {
  replicas_.clear();
}

namespace {

std::vector<double> scales_of(const std::vector<ClientUpdate>& updates) {
  double sum = 0;
  for (const ClientUpdate& one : updates) sum += static_cast<double>(one.samples);
  std::vector<double> scales;
  for (const ClientUpdate& one : updates)
    scales.push_back(sum > 0 ? static_cast<double>(one.samples) / sum
                             : 1 / static_cast<double>(updates.size()));
  return scales;
}

/// acc = acc + value × scale; a clone of it is the result.
at::Tensor add_in_new_tensors(const std::vector<ClientUpdate>& updates,
                              const std::vector<double>& scales, std::size_t entry) {
  at::Tensor sum = updates.front().state[entry].tensor * scales.front();
  for (std::size_t i = 1; i < updates.size(); ++i)
    sum = sum + updates[i].state[entry].tensor * scales[i];
  return sum.clone();
}

at::Tensor add_in_place(const std::vector<ClientUpdate>& updates, const std::vector<double>& scales,
                        std::size_t entry) {
  at::Tensor sum = updates.front().state[entry].tensor * scales.front();
  for (std::size_t i = 1; i < updates.size(); ++i)
    sum.add_(updates[i].state[entry].tensor * scales[i]);
  return sum;
}

}  // namespace

State average_updates(Averaging averaging, const std::vector<ClientUpdate>& updates) {
  const torch::NoGradGuard no_grad;
  const std::vector<double> scales = scales_of(updates);
  const auto add = averaging == Averaging::in_place ? add_in_place : add_in_new_tensors;
  State mean;
  const State& like = updates.front().state;
  for (std::size_t i = 0; i < like.size(); ++i)
    mean.push_back({like[i].name, add(updates, scales, i).to(like[i].tensor.scalar_type())});
  return mean;
}

}  // namespace memduel
