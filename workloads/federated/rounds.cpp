#include "workloads/federated/rounds.h"

#include <fmt/format.h>

#include "workloads/federated/finite.h"
#include "workloads/federated/role_setup.h"
#include "workloads/federated/weighted_rounds.h"
#include "workloads/optimizations/staging.h"
#include "workloads/optimizations/streaming_fold.h"

namespace memduel {
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
    optimizations_.garbage->hold(incoming.state);
    return {client, std::move(incoming.header), std::move(incoming.state), nullptr};
  }

  State average(std::vector<Upload>& uploads, const std::vector<double>& weights) override {
    std::vector<Contribution> contributions;
    for (std::size_t i = 0; i < uploads.size(); ++i)
      contributions.push_back({uploads[i].client, weights[i], &*uploads[i].state});
    State global = aggregator_->aggregate(contributions);
    optimizations_.garbage->hold(global);
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
        throw Error(ExitCode::cannot_measure,
                    fmt::format("found tensor {} where {} was expected: a state that is folded as "
                                "it comes must have the model's order",
                                table.tensors[i].name, expected().tensors[i].name),
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
  if (optimizations.local_models == LocalModels::cleared_first) uploads.clear();
  return optimizations.responder->prepare(std::move(global));
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
