#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/training.h"
#include "memduel/annotate.h"
#include "model/metric_catalogue.h"
#include "server.h"
#include "server_connection.h"
#include "trainer.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

constexpr std::chrono::seconds kConnectWithin{30};

/// The server's address, once it has written it.
std::string await_address(const std::filesystem::path& file) {
  const auto give_up = std::chrono::steady_clock::now() + kConnectWithin;
  while (!std::filesystem::exists(file)) {
    if (std::chrono::steady_clock::now() > give_up)
      throw Error(ExitCode::cannot_measure,
                  fmt::format("the server wrote no address within {} s", kConnectWithin.count()),
                  file.string(), "start the server first");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return read_file(file);
}

/// One way to an aggregator: the server, or a client of a swarm.
struct Link {
  Link(const WorkerConfig& config, const Optimizations& optimizations, int aggregator,
       const std::string& name)
      : transport(open_client(transport_options(config, optimizations),
                              await_address(address_file_for(config, aggregator)), name)),
        connection(*transport, optimizations, name) {}

  std::unique_ptr<ClientTransport> transport;
  ServerConnection connection;
};

/// The ways to all aggregators of a job: its server, or in a swarm each client in turn.
class AggregatorLinks {
 public:
  AggregatorLinks(const WorkerConfig& config, const Optimizations& optimizations,
                  const std::string& name) {
    const int aggregators = config.workload.swarm ? config.workload.clients : 1;
    for (int one = 1; one <= aggregators; ++one)
      links_.push_back(std::make_unique<Link>(config, optimizations, one, name));
  }

  /// Gives what each aggregator was configured with to `check`.
  void connect(const std::function<void(const nlohmann::json&)>& check) const {
    for (const auto& link : links_) {
      link->transport->connect(kConnectWithin);
      link->connection.attend();
      check(link->connection.get_configuration());
    }
  }
  void set_sample_size(std::int64_t samples) const {
    for (const auto& link : links_) link->connection.set_sample_size(samples);
  }
  void close() const {
    for (const auto& link : links_) link->connection.close();
  }
  /// To the aggregator of a round, counted from 1.
  [[nodiscard]] ServerConnection& of_round(int round) const {
    return links_[static_cast<std::size_t>(round - 1) % links_.size()]->connection;
  }

 private:
  std::vector<std::unique_ptr<Link>> links_;
};

/// Roles with different switches would misread each other's bytes.
void check_configuration(const WorkerConfig& client, const nlohmann::json& server) {
  if (server.at("switches") != client.optimizations || server.at("model") != client.workload.model)
    throw Error(ExitCode::usage, "server and client have different switches or models",
                "worker configuration", "start all roles of a trial with one worker.json");
}

class FederatedClient {
 public:
  FederatedClient(const WorkerConfig& config, int index, const at::Device& device,
                  CleanupTime& cleanup_time)
      : config_(config),
        workload_(config.workload),
        device_(device),
        name_(client_name(index)),
        cleanup_time_(cleanup_time),
        optimizations_(make_optimizations(config.optimizations,
                                          workload_.transport.max_message_bytes, device)),
        links_(config, optimizations_, name_),
        collect_point_({.send_every = optimizations_.client_gc_rounds,
                        .light = collection(*optimizations_.garbage, optimizations_.cuda_cache)}),
        samples_(load_samples(config, index)) {
    mark_idle();
    model_ = build_model(config, device);
    chunks_ = split_state(model_.state, optimizations_.chunk_bytes);
    trainer_ = workload_.kind == "federated"
                   ? make_step_trainer(workload_, optimizations_, model_, samples_.train,
                                       config.seed * 1000 + static_cast<std::uint64_t>(index))
                   : make_shift_trainer(workload_, optimizations_, model_, index);
  }

  void run() {
    join();
    for (int round = 1; round <= workload_.rounds; ++round) {
      memduel_round_begin(round);
      cleanup_time_.begin_round();
      validate_if(workload_.pre_validation);
      train(round);
      validate_if(workload_.client_validation);
      exchange(round);
      await_device(device_);
      cleanup_time_.end_round();
      send_memory_gauges();
      memduel_round_end(round);
    }
    links_.close();
  }

 private:
  void begin_phase(const char* name) const { memduel::begin_phase(device_, name); }

  /// Where a received chunk may go directly: into the model's own tensors.
  [[nodiscard]] const State* destination(const State& chunk) const {
    return optimizations_.receives_into_tensors ? &chunk : nullptr;
  }

  /// The script's variables name a state until they are assigned again.
  void done_with(State& state) const {
    if (optimizations_.client_locals == ClientLocals::released) state.clear();
  }

  /// Whether the state that was received is kept apart from the model until the next exchange.
  [[nodiscard]] bool caches_received() const {
    return optimizations_.client_locals == ClientLocals::kept_until_next_receive ||
           optimizations_.client_locals == ClientLocals::released_on_send;
  }

  void join() {
    links_.connect([&](const auto& server) { check_configuration(config_, server); });
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      initial_model_ =
          links_.of_round(1).get_global_model({i, chunks_.size()}, destination(chunks_[i]));
      copy_state(initial_model_, model_.state);
      done_with(initial_model_);
    }
    if (caches_received()) new_global_model_ = std::exchange(initial_model_, {});
    links_.set_sample_size(samples_.train.count());
  }

  void train(int round) {
    begin_phase("train");
    TrainingResult result;
    try {
      result = trainer_->train();
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("round {}: {}", round, error.what()), name_,
                  error.advice());
    }
    local_model_ = trainer_->upload();
    if (result.accuracy) memduel_gauge(kTrainAccuracy, *result.accuracy);
    if (result.loss) memduel_gauge(kTrainLoss, *result.loss);
  }

  void validate_if(bool wanted) {
    if (!wanted) return;
    begin_phase("validate");
    memduel_gauge(kValidationAccuracy,
                  validate(model_, samples_.validation, workload_.validation_batch_size,
                           optimizations_.make_predictions));
  }

  void exchange(int round) {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      new_global_model_ = update_global_model(i, links_.of_round(round));
      if (i + 1 == chunks_.size() && optimizations_.client_locals != ClientLocals::kept)
        release_local_model();
      begin_phase("load");
      optimizations_.garbage->hold(Cycle::exchanged, new_global_model_);
      copy_state(new_global_model_, model_.state);
      done_with(new_global_model_);
    }
    if (optimizations_.cleanup != Cleanup::none) {
      begin_phase("cleanup");
      cleanup_time_.add(clean_up(optimizations_.cleanup));
    }
  }

  void release_local_model() {
    local_model_.clear();
    trainer_->release_upload();
  }

  /// Uploads a chunk until the server could average it.
  State update_global_model(std::size_t index, ServerConnection& connection) {
    for (;;) {
      begin_phase("upload");
      ModelUpdate update = connection.start_update();
      update.send_state(
          chunks_.size() == 1 ? local_model_ : select_entries(local_model_, chunks_[index]),
          connection.header(chunk_metadata({index, chunks_.size()})));
      if (index + 1 == chunks_.size()) after_send();
      begin_phase("broadcast");
      IncomingModel answer = update.receive(destination(chunks_[index]));
      if (answer.header.status != Status::again) return std::move(answer.state);
    }
  }

  /// The end of NVFlare's send().
  void after_send() {
    optimizations_.garbage->hold(Cycle::exchanged, local_model_);
    // A server that goes on without a lost client may ask for the upload again.
    if (optimizations_.client_locals == ClientLocals::released_on_send &&
        !workload_.continue_without_lost_clients) {
      new_global_model_.clear();
      release_local_model();
    }
    if (optimizations_.client_gc_rounds == 0) return;
    begin_phase("cleanup");
    if (const auto cleaned = collect_point_.sent()) cleanup_time_.add(cleaned->report);
  }

  const WorkerConfig& config_;
  const WorkloadConfig& workload_;
  const at::Device device_;
  const std::string name_;
  CleanupTime& cleanup_time_;
  Optimizations optimizations_;
  AggregatorLinks links_;
  CleanupPolicy collect_point_;
  RoleSamples samples_;
  Model model_;
  std::vector<State> chunks_;  ///< aliasing the model
  std::unique_ptr<Trainer> trainer_;
  State initial_model_;
  State local_model_;
  State new_global_model_;
};

/// A client of a swarm, and beside it the aggregator that it is in turn.
void run_swarm_client(const WorkerConfig& config, int index, const at::Device& device) {
  CleanupTime cleanup_time;
  const auto aggregator =
      make_server_part(config, device, {index, config.workload.clients}, cleanup_time);
  write_private_file(address_file_for(config, index), aggregator->address());
  FederatedClient client(config, index, device, cleanup_time);
  aggregator->prepare();
  std::future<void> serving = std::async(std::launch::async, [&] { aggregator->run(); });
  try {
    client.run();
  } catch (const Error& error) {
    aggregator->abort(error);
    throw;
  } catch (const std::exception& error) {
    aggregator->abort(Error(ExitCode::cannot_measure, error.what(), client_name(index)));
    throw;
  }
  serving.get();
}

}  // namespace

std::filesystem::path address_file_for(const WorkerConfig& config, int aggregator) {
  return config.workload.swarm
             ? config.address_file.parent_path() / (client_name(aggregator) + ".address")
             : config.address_file;
}

void run_client(const WorkerConfig& config, int index) {
  if (index < 1 || index > config.workload.clients)
    throw Error(
        ExitCode::usage,
        fmt::format("expected a client from 1 to {}, found {}", config.workload.clients, index),
        "--index");
  const at::Device device = warm_up(config, config.workload.device);
  if (config.workload.swarm) return run_swarm_client(config, index, device);
  CleanupTime cleanup_time;
  FederatedClient(config, index, device, cleanup_time).run();
}

}  // namespace memduel
