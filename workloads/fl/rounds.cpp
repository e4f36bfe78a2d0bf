#include "workloads/federated/weighted_rounds.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "workloads/federated/role_setup.h"
#include "workloads/optimizations/streaming_fold.h"
#include "workloads/optimizations/weighted_total.h"

namespace memduel {
namespace {

class WeightedRounds final : public Rounds {
 public:
  WeightedRounds(const WorkerConfig& config, const Optimizations& optimizations, const Model& model)
      : optimizations_(optimizations),
        model_(model),
        upload_(upload_kind(config)),
        in_time_(optimizations.aggregate == kInTime) {
    if (optimizations.tensor_offload == TensorOffload::disk)
      offloading_ = make_offloading_receiver(*optimizations.framing, config.trial_dir);
  }

  [[nodiscard]] bool takes_turns() const override { return in_time_; }

  Upload take(int client, double weight, Call& call, CallFrame& frame) override {
    IncomingModel incoming = receiver().receive(call, frame, nullptr);
    expect_same_tensors(table_of(incoming.state), expected(), client_name(client));
    if (optimizations_.request_lifetime == RequestLifetime::released) frame.release();
    optimizations_.garbage->hold(incoming.state);
    Upload upload{client, std::move(incoming.header), std::nullopt, nullptr};
    const std::lock_guard lock(mutex_);
    weights_[client] = weight;
    if (in_time_)
      add(client, std::move(incoming.state));
    else
      upload.state = std::move(incoming.state);
    return upload;
  }

  State average(std::vector<Upload>& uploads, const std::vector<double>& /*weights*/) override {
    const std::lock_guard lock(mutex_);
    if (in_time_)
      expect_all_alive(uploads);
    else
      for (Upload& upload : uploads) add(upload.client, state_of(upload));
    weights_.clear();
    replace_part(total_.take_mean(part()));
    return initial();
  }

  /// What it hands out aliases the model, as NVFlare serves its tensors from where they are. The
  /// model changes only once every client has delivered the next round, so has taken this one.
  [[nodiscard]] State initial() const override {
    return make_upload_state("reference")->take(part());
  }

 private:
  [[nodiscard]] const ModelReceiver& receiver() const {
    return offloading_ ? *offloading_ : *optimizations_.upload_receiver;
  }

  /// Offloaded tensors are let go of one by one, so that one at a time is resident.
  [[nodiscard]] State state_of(Upload& upload) const {
    return offloading_ ? std::move(*upload.state) : *upload.state;
  }

  /// Clients may send their tensors in any order.
  void add(int client, State state) {
    State ordered;
    for (const NamedTensor& entry : part())
      ordered.push_back({entry.name, find_tensor(state, entry.name)});
    state.clear();
    total_.add(std::move(ordered), weights_.at(client), device_of(model_), client_name(client));
  }

  /// A lost client's share cannot be taken out of the total: the others send again.
  void expect_all_alive(const std::vector<Upload>& uploads) {
    for (const auto& [client, weight] : weights_) {
      const bool alive =
          std::ranges::any_of(uploads, [&](const Upload& one) { return one.client == client; });
      if (alive) continue;
      const int lost = client;
      total_.clear();
      weights_.clear();
      throw ClientLost(lost, PeerGone("its upload had been averaged already", client_name(lost)));
    }
  }

  void replace_part(const State& mean) {
    const torch::NoGradGuard no_grad;
    optimizations_.garbage->hold(mean);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const at::Tensor target = part()[i].tensor.detach();
      if (upload_ == UploadKind::difference && is_stepped(model_, part()[i]))
        target.sub_(mean[i].tensor);
      else
        target.copy_(mean[i].tensor);
    }
  }

  const Optimizations& optimizations_;
  const Model& model_;
  UploadKind upload_;
  bool in_time_;
  std::unique_ptr<ModelReceiver> offloading_;
  std::mutex mutex_;
  std::map<int, double> weights_;  ///< of the clients taken in since the last average
  WeightedTotal total_;
};

}  // namespace

std::unique_ptr<Rounds> make_weighted_rounds(const WorkerConfig& config,
                                             const Optimizations& optimizations,
                                             const Model& model) {
  return std::make_unique<WeightedRounds>(config, optimizations, model);
}

}  // namespace memduel
