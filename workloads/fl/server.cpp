#include "server.h"

#include <fmt/format.h>

#include <atomic>

#include "exchange.h"
#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/training.h"
#include "memduel/annotate.h"
#include "model/metric_catalogue.h"
#include "optimizations/aggregation.h"
#include "rounds.h"
#include "server_calls.h"
#include "transport/watchdog.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

constexpr std::chrono::milliseconds kStopGrace{2000};

class FederatedServer final : public ServerPart {
 public:
  FederatedServer(const WorkerConfig& config, const at::Device& device, const ServerTurns& turns,
                  CleanupTime& cleanup_time)
      : config_(config),
        workload_(config.workload),
        device_(device),
        turns_(turns),
        cleanup_time_(cleanup_time),
        table_{.config = config,
               .optimizations = make_optimizations(config.optimizations,
                                                   workload_.transport.max_message_bytes, device),
               .exchange = Exchange(workload_.clients,
                                    workload_.continue_without_lost_clients ? OnLostClient::go_on
                                                                            : OnLostClient::fail,
                                    deadline_in(workload_.deadline_seconds)),
               .transfer_time = {},
               .watchdog = Watchdog(std::chrono::duration<double>(workload_.stall_seconds)),
               .sample_sizes = std::vector<std::atomic<std::int64_t>>(
                   static_cast<std::size_t>(workload_.clients)),
               .rounds = nullptr},
        collect_point_({.light_every = optimizations_.server_gc_rounds,
                        .light = collection(*optimizations_.garbage, CudaCache::kept)}),
        samples_(load_samples(config, 0)),
        transport_(
            open_server(transport_options(config, optimizations_),
                        [this](Method method, Call& call) { calls_.handle(method, call); })) {
    if (optimizations_.chunk_bytes && workload_.continue_without_lost_clients)
      throw Error(ExitCode::usage,
                  "an averaged chunk would contain the share of a client that is lost later",
                  "workload.on_lost_client", "\"continue\" needs model_chunking off");
    if (workload_.swarm) expect_swarm();
  }

  FederatedServer(const FederatedServer&) = delete;
  FederatedServer& operator=(const FederatedServer&) = delete;
  ~FederatedServer() override { transport_->stop(std::chrono::milliseconds(0)); }

  [[nodiscard]] std::string address() const override { return transport_->address(); }

  void prepare() override {
    if (!workload_.swarm) mark_idle();
    model_ = build_model(config_, device_);
    table_.rounds = make_rounds(config_, optimizations_, model_);
    chunks_ = split_state(model_.state, optimizations_.chunk_bytes);
    table_.rounds->begin(chunks_.front());
  }

  void run() override {
    try {
      if (turns_.serves(1)) distribute_initial_model();
      for (int round = 1; round <= workload_.rounds; ++round)
        if (turns_.serves(round)) run_round(round);
      exchange_.await_all_left();
    } catch (const Error& error) {
      throw release_all(error);
    } catch (const std::exception& error) {  // LibTorch's, or out of memory
      throw release_all(Error(ExitCode::cannot_measure, error.what(), "server"));
    }
    transport_->stop(kStopGrace);
    if (turns_.serves(workload_.rounds)) write_model_file(config_.model_file, model_.state);
  }

  void abort(const Error& why) override { exchange_.fail(why); }

 private:
  /// An aggregator has only what it is sent in its round: no global model of the round before.
  void expect_swarm() const {
    const bool weighted =
        optimizations_.aggregate == kCollectAll || optimizations_.aggregate == kInTime;
    if (weighted && !workload_.send_gradient && !workload_.continue_without_lost_clients) return;
    throw Error(ExitCode::usage,
                fmt::format("found swarm, which needs aggregate={} or {}, send=weights and "
                            "on_lost_client=fail",
                            kCollectAll, kInTime),
                "workload.topology");
  }

  /// Every handler, so that all clients learn why. Returns what came first: a lost client's upload
  /// ends early too.
  Error release_all(const Error& error) {
    Error first = exchange_.fail(error);
    transport_->stop(kStopGrace);
    return first;
  }

  /// A swarm's phases are the client's.
  void begin_phase(const char* name) const {
    workload_.swarm ? await_device(device_) : memduel::begin_phase(device_, name);
  }

  void distribute_initial_model() {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      table_.rounds->begin(chunks_[chunk]);
      exchange_.open(exchange_name("initial model", chunk));
      exchange_.await_uploads();
      exchange_.answer(
          {optimizations_.responder->prepare(table_.rounds->initial(), workload_.clients), {}});
      exchange_.await_delivery();
    }
  }

  void run_round(int round) {
    if (!workload_.swarm) {
      memduel_round_begin(round);
      cleanup_time_.begin_round();
    }
    const Status status = round == workload_.rounds ? Status::done : Status::run;
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      table_.chunk = {chunk, chunks_.size()};
      if (chunks_.size() > 1) table_.rounds->begin(chunks_[chunk]);
      const std::string name = exchange_name(fmt::format("round {}", round), chunk);
      while (!try_exchange(name, status)) {
      }
    }

    if (optimizations_.cleanup != Cleanup::none) {
      begin_phase("cleanup");
      cleanup_time_.add(clean_up(optimizations_.cleanup));
    }
    if (workload_.server_validation) {
      begin_phase("validate");
      memduel_gauge(kValidationAccuracy,
                    validate(model_, samples_.validation, workload_.validation_batch_size,
                             optimizations_.make_predictions));
    }
    if (optimizations_.server_gc_rounds > 0) {
      begin_phase("cleanup");
      if (const auto cleaned = collect_point_.round_ended(round))
        cleanup_time_.add(cleaned->report);
    }
    memduel_gauge(kTransferSeconds, table_.transfer_time.take().count());
    await_device(device_);
    if (workload_.swarm) return;
    cleanup_time_.end_round();
    send_memory_gauges();
    memduel_round_end(round);
  }

  /// One chunk's uploads, average and answers. False when a client was lost while its upload was
  /// folded: the model is untouched and the others have been asked for their uploads again.
  bool try_exchange(const std::string& name, Status status) {
    begin_phase("upload");
    exchange_.open(name);
    uploads_ = exchange_.await_uploads();

    begin_phase("aggregate");
    const BusyTime::Working working(table_.transfer_time);
    State global;
    try {
      global = table_.rounds->average(uploads_, weights_of(uploads_));
    } catch (const ClientLost& lost) {
      table_.lose(lost.client(), lost.what());
      uploads_.clear();
      exchange_.answer({nullptr, {{}, Status::again, {}}});
      exchange_.await_delivery();
      return false;
    } catch (const Error& error) {
      throw Error(error.code(), name + ": " + error.what(), error.where(), error.advice());
    }

    begin_phase("broadcast");
    exchange_.answer(
        {prepare_answer(std::move(global), uploads_, optimizations_), {{}, status, {}}});
    drop_answered(uploads_, optimizations_);
    exchange_.await_delivery();
    return true;
  }

  [[nodiscard]] std::string exchange_name(const std::string& what, std::size_t chunk) const {
    return chunks_.size() == 1 ? what
                               : fmt::format("{}, chunk {} of {}", what, chunk + 1, chunks_.size());
  }

  [[nodiscard]] std::vector<double> weights_of(const std::vector<Upload>& uploads) const {
    std::vector<std::int64_t> sizes;
    for (const Upload& upload : uploads)
      sizes.push_back(table_.sample_sizes[static_cast<std::size_t>(upload.client) - 1]);
    return shares_of(workload_.weights, sizes);
  }

  const WorkerConfig& config_;
  const WorkloadConfig& workload_;
  const at::Device device_;
  const ServerTurns turns_;
  CleanupTime& cleanup_time_;
  ServerTable table_;
  ServerCalls calls_{table_};
  Optimizations& optimizations_ = table_.optimizations;
  Exchange& exchange_ = table_.exchange;
  CleanupPolicy collect_point_;
  RoleSamples samples_;
  Model model_;
  std::vector<State> chunks_;  ///< aliasing the model; a lone one is begun once for all rounds
  std::vector<Upload> uploads_;
  // Last: its handlers use everything above.
  std::unique_ptr<ServerTransport> transport_;
};

}  // namespace

std::unique_ptr<ServerPart> make_server_part(const WorkerConfig& config, const at::Device& device,
                                             const ServerTurns& turns, CleanupTime& cleanup_time) {
  return std::make_unique<FederatedServer>(config, device, turns, cleanup_time);
}

void run_server(const WorkerConfig& config) {
  const at::Device device = warm_up(config, config.workload.server_device);
  CleanupTime cleanup_time;
  const auto server = make_server_part(config, device, {}, cleanup_time);
  server->prepare();
  write_private_file(config.address_file, server->address());
  server->run();
}

}  // namespace memduel
