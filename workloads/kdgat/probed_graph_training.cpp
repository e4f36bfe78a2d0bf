// A training on graphs as `memduel budget --measured` runs it (budget/largest_batch.h).

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "budget/largest_batch.h"
#include "curriculum.h"
#include "fl/training.h"
#include "graph_switches.h"
#include "kdgat/graph_trainer.h"
#include "network_trainer.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr double kStatesOfAdam = 2;

const std::string& model_name(const WorkloadConfig& workload, const std::string& network) {
  if (network == "autoencoder") return workload.graph.autoencoder;
  if (network == "teacher") return workload.graph.teacher;
  if (network == "student") return workload.model;
  throw Error(ExitCode::usage,
              fmt::format("expected autoencoder, teacher or student, found \"{}\"", network),
              "network");
}

std::unique_ptr<GraphStore> made_graphs(const WorkerConfig& config, GraphLoading loading) {
  run_graphs(config);
  return open_graphs(config.graph_file, loading);
}

/// What an autoencoder learns from; of a classifier's lessons that with the larger graphs. It takes
/// every normal graph for as hard as the others.
Indices graphs_of(const GraphStore& store, const TrainingGraphs& split, const std::string& network,
                  std::uint64_t seed) {
  if (network == "autoencoder") return split.normals;
  const Curriculum curriculum(split.normals, std::vector<float>(split.normals.size()),
                              split.attacks);
  return heavier(store, curriculum.graphs_of(0, 1, seed), curriculum.graphs_of(1, 1, seed));
}

/// One half of the graphs is for steps that are tried, the other is held out.
class ProbedGraphTraining final : public ProbedTraining {
 public:
  ProbedGraphTraining(const WorkerConfig& config, const at::Device& device,
                      const std::string& network)
      : model_(find_graph_model(model_name(config.workload, network))),
        switches_(make_graph_switches(config.optimizations)),
        device_(device),
        store_(made_graphs(config, switches_.graph_loading)) {
    share_graphs(config, network);
    const double before = live_bytes(device_);
    if (network == "student") install_teacher(find_graph_model(config.workload.graph.teacher));
    held_.other_weights = live_bytes(device_) - before;
    network == "autoencoder" ? install_autoencoder() : install_classifier();
    held_.model = live_bytes(device_) - before - held_.other_weights;
    trainer_.emplace(*network_, config.workload.optimizer.learning_rate, switches_.mixed_precision,
                     device_);
  }

  void step(std::int64_t batch) override {
    try_graphs(tried_->heaviest(static_cast<std::size_t>(batch), kTriedDraws));
  }

  void held_out_step(std::int64_t batch) override {
    try_graphs(held_out_->heaviest_of_epoch(static_cast<std::size_t>(batch)));
  }

  [[nodiscard]] std::vector<torch::Tensor> parameters() const override {
    return network_->parameters();
  }

  [[nodiscard]] BudgetParts from_shapes() const override {
    const auto identifiers = static_cast<int>(store_->identifiers());
    BudgetParts parts = parts_of(
        static_cast<double>(parameter_count(model_, identifiers)) * sizeof(float), kStatesOfAdam);
    parts.sample_bytes = graph_sample_bytes(mean_.nodes, mean_.edges);
    if (teacher_) parts.other_weight_bytes = static_cast<double>(teacher_->bytes_on_device());
    return parts;
  }

  [[nodiscard]] HeldBytes held() const override { return held_; }

  [[nodiscard]] double target_utilization() const override {
    return model_.safety_factor ? utilization_for(*model_.safety_factor) : kTargetUtilization;
  }

 private:
  using Loss = std::function<torch::Tensor(const GraphBatch&, std::span<const std::size_t>)>;

  void share_graphs(const WorkerConfig& config, const std::string& network) {
    const TrainingGraphs split = split_graphs(*store_, config.workload.dataset.seed,
                                              config.data_dir / config.workload.dataset.file);
    const Indices graphs = shuffled(graphs_of(*store_, split, network, config.seed), config.seed);
    const auto middle = graphs.begin() + static_cast<std::ptrdiff_t>((graphs.size() + 1) / 2);
    const Indices tried(graphs.begin(), middle);
    const Indices rest(middle, graphs.end());
    mean_ = mean_graph(*store_, tried);
    tried_.emplace(*store_, tried, config.seed);
    held_out_.emplace(*store_, rest.empty() ? tried : rest, config.seed);
  }

  void install_teacher(const GraphModel& model) {
    teacher_.emplace(
        make_graph_network<Gat>(model, *store_, switches_.gradient_checkpointing, device_),
        switches_.teacher, device_);
    // One answer makes the memory for all.
    const Indices one = {0};
    teacher_->remember(*store_, one, 1);
  }

  void install_autoencoder() {
    Vgae network =
        make_graph_network<Vgae>(model_, *store_, switches_.gradient_checkpointing, device_);
    network_ = network.ptr();
    loss_ = [network, this](const GraphBatch& batch, std::span<const std::size_t>) mutable {
      return vgae_loss(network->forward(batch), batch, switches_.neighbourhood_target);
    };
  }

  void install_classifier() {
    Gat network =
        make_graph_network<Gat>(model_, *store_, switches_.gradient_checkpointing, device_);
    network_ = network.ptr();
    loss_ = [network, this](const GraphBatch& batch, std::span<const std::size_t> places) mutable {
      return teacher_ ? distilled_loss(network, *teacher_, batch, places)
                      : classification_loss(network->forward(batch), batch.labels);
    };
  }

  void try_graphs(const Indices& places) {
    try_step(*store_, places, switches_.loader_workers, device_, *trainer_,
             [&](const GraphBatch& batch) { return loss_(batch, places); });
  }

  const GraphModel& model_;
  GraphSwitches switches_;
  at::Device device_;
  std::unique_ptr<GraphStore> store_;
  MeanGraph mean_;
  std::optional<HeavyBatches> tried_;
  std::optional<HeavyBatches> held_out_;
  std::optional<Teacher> teacher_;
  std::shared_ptr<torch::nn::Module> network_;
  Loss loss_;
  std::optional<NetworkTrainer> trainer_;
  HeldBytes held_;
};

}  // namespace

std::unique_ptr<ProbedTraining> make_graph_training(const WorkerConfig& config,
                                                    const at::Device& device,
                                                    const std::string& network) {
  return std::make_unique<ProbedGraphTraining>(config, device, network);
}

}  // namespace memduel
