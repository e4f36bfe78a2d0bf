#include "kdgat/graph_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "can_log.h"
#include "curriculum.h"
#include "data/loader_workers.h"
#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/worker_config.h"
#include "kdgat/graph_file.h"
#include "memduel/annotate.h"
#include "memduel/memory_torch.h"
#include "model/metric_catalogue.h"
#include "network_trainer.h"
#include "util/error.h"
#include "window_graphs.h"

namespace memduel {
namespace {

constexpr Choice<Attack> kAttacks[] = {
    {"dos", Attack::dos}, {"fuzzy", Attack::fuzzy}, {"spoofing", Attack::spoofing}};

/// Whether the file is there and every graph in it sound; a line on standard error says why it is
/// not.
bool is_sound(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  try {
    const auto store = open_graphs(path, GraphLoading::mmap);
    for (std::size_t i = 0; i < store->size(); ++i) static_cast<void>(store->graph(i));
    return true;
  } catch (const Error& error) {
    fmt::print(stderr, "memduel-worker: warning: {}: {}: the file is recreated\n", error.where(),
               error.what());
    return false;
  }
}

std::vector<CanFrame> read_recording(const std::filesystem::path& path) {
  std::vector<CanFrame> frames = read_can_log(path);
  if (frames.size() < 2)
    throw Error(ExitCode::io, fmt::format("expected at least 2 frames, found {}", frames.size()),
                path.string());
  return frames;
}

}  // namespace

void run_graphs(const WorkerConfig& config) {
  if (is_sound(config.graph_file)) return;
  const DatasetConfig& dataset = config.workload.dataset;
  if (dataset.name == "can-generated") {
    write_generated_graphs(config.graph_file, dataset.graphs, dataset.seed);
    return;
  }
  std::vector<Attack> attacks;
  for (const std::string& name : dataset.attacks)
    attacks.push_back(choose("attacks", kAttacks, name));
  write_recorded_graphs(config.graph_file, read_recording(config.data_dir / dataset.file), attacks,
                        dataset.seed);
}

namespace {

/// KD-GAT looks at so many graphs, and estimates for the one that 5% of them exceed.
constexpr std::size_t kSampledGraphs = 1000;
constexpr double kSamplePercentile = 0.95;

using Places = std::span<const std::size_t>;

/// A network's training within the whole.
template <class Network>
struct Stage {
  std::string model;
  int epochs = 0;
  std::function<void()> begin;               ///< in the first epoch, before the network is made
  std::function<Indices(int epoch)> graphs;  ///< of an epoch, in the order of its steps
  std::function<torch::Tensor(Network&, const GraphBatch&, Places)> loss;
  std::function<void(Network&)> end_epoch;
};

/// Nodes and edges of one that few are larger than.
std::pair<double, double> large_graph(const GraphStore& graphs) {
  std::vector<std::pair<std::size_t, std::size_t>> sizes;
  for (std::size_t i = 0; i < std::min(kSampledGraphs, graphs.size()); ++i) {
    const GraphView graph = graphs.graph(i);
    sizes.emplace_back(graph.nodes(), graph.edges());
  }
  const auto large = sizes.begin() + static_cast<std::ptrdiff_t>(
                                         static_cast<double>(sizes.size() - 1) * kSamplePercentile);
  std::nth_element(sizes.begin(), large, sizes.end());
  return {static_cast<double>(large->first), static_cast<double>(large->second)};
}

/// Graphs in batches on the device, made in turn or by workers.
class BatchLoop {
 public:
  BatchLoop(int workers, const at::Device& device) : device_(device), workers_(workers) {}

  void begin_epoch() { workers_.begin_epoch(); }
  template <class Use>
  void for_each(const GraphStore& graphs, const Indices& places, std::size_t batch_size, Use use) {
    for (std::size_t first = 0; first < places.size(); first += batch_size) {
      const Places some =
          Places(places).subspan(first, std::min(batch_size, places.size() - first));
      const GraphBatch made = make_batch(graphs, some);
      workers_.made(made);
      use(made.on(device_), some);
    }
  }

 private:
  const at::Device device_;
  LoaderWorkers<GraphBatch> workers_;
};

/// Makes a stage's network and its trainer, as the switches want them.
struct NetworkMaker {
  const GraphSwitches& switches;
  double learning_rate = 0;
  at::Device device;

  template <class Network>
  [[nodiscard]] Network network(const GraphModel& model, const GraphStore& graphs) const {
    return make_graph_network<Network>(model, graphs, switches.gradient_checkpointing, device);
  }
  [[nodiscard]] NetworkTrainer trainer(torch::nn::Module& network) const {
    return {network, learning_rate, switches.mixed_precision, device};
  }
};

class GraphTraining {
 public:
  GraphTraining(const WorkerConfig& config, const at::Device& device)
      : config_(config),
        workload_(config.workload),
        device_(device),
        switches_(make_graph_switches(config.optimizations)),
        make_{switches_, workload_.optimizer.learning_rate, device},
        batches_(switches_.loader_workers, device) {}

  void run() {
    mark_idle();
    autoencoder_ = train(autoencoder_stage());
    teacher_network_ = train(teacher_stage());
    Gat student = train(student_stage());
    write_model_file(config_.model_file, state_of(*student));
  }

 private:
  Stage<Vgae> autoencoder_stage() {
    return {workload_.graph.autoencoder,
            workload_.graph.autoencoder_epochs,
            [this] { load_graphs(); },
            [this](int) { return shuffled(split_.normals, epoch_seed()); },
            [this](Vgae& network, const GraphBatch& batch, Places) {
              return vgae_loss(network->forward(batch), batch, switches_.neighbourhood_target);
            },
            [](Vgae&) {}};
  }

  Stage<Gat> teacher_stage() {
    return {workload_.graph.teacher,
            workload_.graph.teacher_epochs,
            [this] { score_normals(); },
            [this](int epoch) {
              return curriculum_->graphs_of(epoch, workload_.graph.teacher_epochs, epoch_seed());
            },
            [](Gat& network, const GraphBatch& batch, Places) {
              return classification_loss(network->forward(batch), batch.labels);
            },
            [this](Gat& network) { validate(network); }};
  }

  Stage<Gat> student_stage() {
    return {workload_.model,
            workload_.graph.student_epochs,
            [this] { install_teacher(); },
            [this](int epoch) {
              return curriculum_->graphs_of(epoch, workload_.graph.student_epochs, epoch_seed());
            },
            [this](Gat& network, const GraphBatch& batch, Places places) {
              return distilled_loss(network, *teacher_, batch, places);
            },
            [this](Gat& network) { validate(network); }};
  }

  template <class Network>
  Network train(const Stage<Network>& stage) {
    const GraphModel& model = find_graph_model(stage.model);
    Network network = nullptr;
    std::optional<NetworkTrainer> trainer;
    for (int epoch = 0; epoch < stage.epochs; ++epoch) {
      memduel_round_begin(++round_);
      if (epoch == 0) {
        stage.begin();
        batch_size_ = plan_batch(stage, model);
        torch::manual_seed(epoch_seed());
        network = make_.network<Network>(model, *graphs_);
        trainer.emplace(make_.trainer(*network));
      }
      learn(stage, network, *trainer, epoch);
      stage.end_epoch(network);
      report(*trainer);
      memduel_round_end(round_);
    }
    return network;
  }

  template <class Network>
  void learn(const Stage<Network>& stage, Network& network, NetworkTrainer& trainer, int epoch) {
    begin_phase(device_, "train");
    double losses = 0;
    int steps = 0;
    batches_.begin_epoch();
    batches_.for_each(
        *graphs_, stage.graphs(epoch), batch_size_, [&](const GraphBatch& batch, Places places) {
          losses += trainer.step(
              batch, [&](const GraphBatch& one) { return stage.loss(network, one, places); });
          ++steps;
          if (switches_.clear_cache_every_n > 0 && steps % switches_.clear_cache_every_n == 0)
            torch_cuda().empty_cache();
        });
    memduel_gauge(kTrainLoss, losses / steps);
  }

  void load_graphs() {
    begin_phase(device_, "load");
    graphs_ = open_graphs(config_.graph_file, switches_.graph_loading);
    split_ =
        split_graphs(*graphs_, workload_.dataset.seed, config_.data_dir / workload_.dataset.file);
    bus_error_.emplace(graphs_->mapping(),
                       fmt::format("memduel-worker: {}: the file was cut off while it was mapped",
                                   config_.graph_file.string()));
  }

  void score_normals() {
    using Clock = std::chrono::steady_clock;
    begin_phase(device_, "score");
    const Clock::time_point begin = Clock::now();
    curriculum_.emplace(split_.normals,
                        score_graphs(autoencoder_, *graphs_, split_.normals,
                                     switches_.difficulty_scoring, batch_size_, device_),
                        split_.attacks);
    memduel_gauge_better("scoring_seconds",
                         std::chrono::duration<double>(Clock::now() - begin).count(),
                         MEMDUEL_LOWER_IS_BETTER);
    autoencoder_ = nullptr;
    torch_cuda().empty_cache();
  }

  void install_teacher() {
    begin_phase(device_, "teacher");
    teacher_.emplace(std::exchange(teacher_network_, nullptr), switches_.teacher, device_);
    Indices all = split_.normals;
    all.insert(all.end(), split_.attacks.begin(), split_.attacks.end());
    teacher_->remember(*graphs_, all, batch_size_);
  }

  template <class Network>
  std::size_t plan_batch(const Stage<Network>& stage, const GraphModel& model) {
    begin_phase(device_, "plan");
    const auto [nodes, edges] = large_graph(*graphs_);
    BatchQuestion question{
        model,
        static_cast<std::int64_t>(graphs_->identifiers()),
        teacher_ ? teacher_->bytes_on_device() : 0,
        nodes,
        edges,
        workload_.batch_size,
        workload_.graph.device_memory_bytes.value_or(static_cast<double>(available_bytes(device_))),
        switches_.mixed_precision};
    Network network = nullptr;
    std::optional<NetworkTrainer> trainer;
    std::optional<HeavyBatches> batches;
    const TrainingStep step = [&](std::int64_t batch_size) {
      if (!trainer) {
        network = make_.network<Network>(model, *graphs_);
        trainer.emplace(make_.trainer(*network));
        batches.emplace(*graphs_,
                        heavier(*graphs_, stage.graphs(0), stage.graphs(stage.epochs - 1)),
                        config_.seed);
      }
      const Indices places = batches->heaviest(static_cast<std::size_t>(batch_size), kTriedDraws);
      try_step(*graphs_, places, switches_.loader_workers, device_, *trainer,
               [&](const GraphBatch& batch) { return stage.loss(network, batch, places); });
    };
    // Measuring lets the peak begin anew; what the epoch had before belongs to it.
    send_memory_gauges();
    return static_cast<std::size_t>(choose_batch(switches_.batch_size, question, step, device_));
  }

  void validate(Gat& network) {
    begin_phase(device_, "validate");
    const torch::NoGradGuard no_grad;
    network->eval();
    std::int64_t right = 0;
    batches_.for_each(
        *graphs_, split_.validation, batch_size_, [&](const GraphBatch& batch, Places) {
          right += (network->forward(batch).argmax(1) == batch.labels).sum().item<std::int64_t>();
        });
    memduel_gauge(kValidationAccuracy,
                  static_cast<double>(right) / static_cast<double>(split_.validation.size()));
  }

  void report(NetworkTrainer& trainer) {
    await_device(device_);
    send_memory_gauges();
    send_part_gauges(trainer.take_parts());
    if (teacher_)
      memduel_gauge_better("teacher_bytes", static_cast<double>(teacher_->bytes_on_device()),
                           MEMDUEL_LOWER_IS_BETTER);
    memduel_gauge("batch_graphs_count", static_cast<double>(batch_size_));
  }

  [[nodiscard]] std::uint64_t epoch_seed() const {
    return config_.seed + static_cast<std::uint64_t>(round_);
  }

  const WorkerConfig& config_;
  const WorkloadConfig& workload_;
  const at::Device device_;
  const GraphSwitches switches_;
  const NetworkMaker make_;
  BatchLoop batches_;
  std::unique_ptr<GraphStore> graphs_;
  std::optional<BusErrorLine> bus_error_;
  TrainingGraphs split_;
  Vgae autoencoder_ = nullptr;
  std::optional<Curriculum> curriculum_;
  Gat teacher_network_ = nullptr;
  std::optional<Teacher> teacher_;
  std::size_t batch_size_ = 0;  ///< graphs of a step, of the training that runs or ended last
  int round_ = 0;
};

}  // namespace

void run_graph_trainer(const WorkerConfig& config) {
  const BatchSizing sizing = make_graph_switches(config.optimizations).batch_size;
  // It must count from the first tensor on, whatever the meters.
  if (sizing == BatchSizing::measured || sizing == BatchSizing::searched) install_torch_probe();
  const at::Device device = warm_up(config, config.workload.device);
  GraphTraining(config, device).run();
}

}  // namespace memduel
