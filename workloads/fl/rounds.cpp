#include "rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "fl/roles.h"
#include "optimizations/aggregation.h"
#include "optimizations/staging.h"
#include "util/error.h"

namespace memduel {

std::vector<double> shares_of(const std::string& weights,
                              const std::vector<std::int64_t>& sample_sizes) {
  if (weights == "equal")
    return std::vector<double>(sample_sizes.size(), 1.0 / static_cast<double>(sample_sizes.size()));
  const double total = std::accumulate(sample_sizes.begin(), sample_sizes.end(), 0.0);
  if (!(total > 0))
    throw Error(ExitCode::cannot_measure, "all clients together have no samples to weigh by",
                "workload.weights");
  std::vector<double> shares;
  for (const std::int64_t size : sample_sizes) shares.push_back(static_cast<double>(size) / total);
  return shares;
}

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
    optimizations_.garbage->hold(Cycle::exchanged, incoming.state);
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
    optimizations_.garbage->hold(Cycle::mean, mean);
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

namespace {

class CollectingRounds final : public Rounds {
 public:
  CollectingRounds(const WorkerConfig& config, const Optimizations& optimizations,
                   const Model& model)
      : optimizations_(optimizations),
        aggregator_(make_aggregator(optimizations.aggregate, model, upload_kind(config))) {}

  Upload take(int client, double /*weight*/, Call& call, CallFrame& frame) override {
    IncomingModel incoming = optimizations_.upload_receiver->receive(call, frame, nullptr);
    expect_same_tensors(table_of(incoming.state), expected(), client_name(client));
    expect_finite(incoming.state, client_name(client));
    if (optimizations_.request_lifetime == RequestLifetime::released) frame.release();
    optimizations_.garbage->hold(Cycle::exchanged, incoming.state);
    return {client, std::move(incoming.header), std::move(incoming.state), nullptr};
  }

  State average(std::vector<Upload>& uploads, const std::vector<double>& weights) override {
    std::vector<Contribution> contributions;
    for (std::size_t i = 0; i < uploads.size(); ++i)
      contributions.push_back({uploads[i].client, weights[i], &*uploads[i].state});
    State global = aggregator_->aggregate(contributions);
    optimizations_.garbage->hold(Cycle::mean, global);
    return global;
  }

  /// One copy for all clients, as the scheduler's same_init_model makes it.
  [[nodiscard]] State initial() const override {
    return make_upload_state("clone_detach")->take(part());
  }

 private:
  const Optimizations& optimizations_;
  std::unique_ptr<Aggregator> aggregator_;
};

/// What it hands out aliases the model. That is safe: the model changes only once every client has
/// delivered the next round, so has taken this one.
class FoldingRounds final : public Rounds {
 public:
  FoldingRounds(const WorkerConfig& config, const Optimizations& optimizations, const Model& model)
      : optimizations_(optimizations),
        model_(model),
        upload_(upload_kind(config)),
        staging_(make_staging(optimizations.staging, state_bytes(model.state), config.trial_dir)) {}

  Upload take(int client, double /*weight*/, Call& call, CallFrame& /*frame*/) override {
    std::unique_ptr<ModelStream> stream = optimizations_.framing->open(call);
    expect_same_order(stream->read_table(), client_name(client));
    Header header = stream->header();
    return {client, std::move(header), std::nullopt, std::move(stream)};
  }

  State average(std::vector<Upload>& uploads, const std::vector<double>& weights) override {
    std::vector<FoldInput> inputs;
    for (std::size_t i = 0; i < uploads.size(); ++i)
      inputs.push_back({uploads[i].client, weights[i], uploads[i].stream.get()});
    streaming_fold(model_, part(), inputs, upload_, *staging_);
    return initial();
  }

  [[nodiscard]] State initial() const override {
    return make_upload_state("reference")->take(part());
  }

 private:
  /// Lockstep needs one order, on top of equal tensors.
  void expect_same_order(const StateTable& table, const std::string& client) const {
    expect_same_tensors(table, expected(), client);
    for (std::size_t i = 0; i < table.tensors.size(); ++i)
      if (table.tensors[i].name != expected().tensors[i].name)
        throw Error(
            ExitCode::cannot_measure,
            fmt::format("expected tensor {}, found {}: a state that is folded as it comes must "
                        "have the model's order",
                        expected().tensors[i].name, table.tensors[i].name),
            client);
  }

  const Optimizations& optimizations_;
  const Model& model_;
  UploadKind upload_;
  std::unique_ptr<Staging> staging_;
};

}  // namespace

UploadKind upload_kind(const WorkerConfig& config) {
  return config.workload.send_gradient ? UploadKind::difference : UploadKind::weights;
}

std::shared_ptr<const PreparedResponse> prepare_answer(State global, std::vector<Upload>& uploads,
                                                       const Optimizations& optimizations) {
  const auto receivers = static_cast<int>(uploads.size());
  if (optimizations.local_models == LocalModels::cleared_first) uploads.clear();
  return optimizations.responder->prepare(std::move(global), receivers);
}

void drop_answered(std::vector<Upload>& uploads, const Optimizations& optimizations) {
  if (optimizations.local_models != LocalModels::kept_until_next_round) uploads.clear();
}

std::unique_ptr<Rounds> make_rounds(const WorkerConfig& config, const Optimizations& optimizations,
                                    const Model& model) {
  if (optimizations.aggregate == kStreamingFold)
    return std::make_unique<FoldingRounds>(config, optimizations, model);
  if (optimizations.aggregate == kCollectAll || optimizations.aggregate == kInTime)
    return make_weighted_rounds(config, optimizations, model);
  return std::make_unique<CollectingRounds>(config, optimizations, model);
}

}  // namespace memduel
