#include <fmt/format.h>

#include <atomic>

#include "base/error.h"
#include "base/file.h"
#include "memduel/annotate.h"
#include "workloads/federated/busy_time.h"
#include "workloads/federated/exchange.h"
#include "workloads/federated/model_file.h"
#include "workloads/federated/role_setup.h"
#include "workloads/federated/roles.h"
#include "workloads/federated/rounds.h"
#include "workloads/federated/samples.h"
#include "workloads/federated/server_connection.h"
#include "workloads/federated/server_part.h"
#include "workloads/federated/validate.h"
#include "workloads/federated/weights.h"
#include "workloads/optimizations/streaming_fold.h"
#include "workloads/probes/gauges.h"
#include "workloads/transport/watchdog.h"

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
        optimizations_(make_optimizations(config.optimizations,
                                          workload_.transport.max_message_bytes, device)),
        exchange_(
            workload_.clients,
            workload_.continue_without_lost_clients ? OnLostClient::go_on : OnLostClient::fail,
            deadline_in(workload_.deadline_seconds)),
        watchdog_(std::chrono::duration<double>(workload_.stall_seconds)),
        collect_point_({.light_every = optimizations_.server_gc_rounds,
                        .light = collection(*optimizations_.garbage, CudaCache::kept)}),
        sample_sizes_(static_cast<std::size_t>(workload_.clients)),
        samples_(load_samples(config, 0)),
        transport_(open_server(transport_options(config, optimizations_),
                               [this](Method method, Call& call) { handle(method, call); })) {
    if (optimizations_.chunk_bytes && workload_.continue_without_lost_clients)
      throw Error(ExitCode::usage,
                  "a chunk that is already averaged holds the share of a client lost later",
                  "workload.on_lost_client", "\"continue\" needs model_chunking off");
    if (workload_.swarm) expect_swarm();
  }

  FederatedServer(const FederatedServer&) = delete;
  FederatedServer& operator=(const FederatedServer&) = delete;
  ~FederatedServer() override { transport_->stop(std::chrono::milliseconds(0)); }

  [[nodiscard]] std::string address() const override { return transport_->address(); }

  void prepare() override {
    if (!workload_.swarm) mark_idle();
    model_ = build_model(config_);
    rounds_ = make_rounds(config_, optimizations_, model_);
    chunks_ = split_state(model_.state, optimizations_.chunk_bytes);
    rounds_->begin(chunks_.front());
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

  // ---- the main thread: rounds -------------------------------------------------------------

  void begin_phase(const char* name) const {
    await_device(device_);
    if (!workload_.swarm) memduel_phase(name);
  }

  void distribute_initial_model() {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      rounds_->begin(chunks_[chunk]);
      exchange_.open(exchange_name("initial model", chunk));
      exchange_.await_uploads();
      exchange_.answer({optimizations_.responder->prepare(rounds_->initial()), {}});
      exchange_.await_delivery();
    }
  }

  void run_round(int round) {
    if (!workload_.swarm) {
      memduel_round_begin(round);
      cleanup_time_.begin_round();
    }
    const Status status = round == workload_.rounds ? Status::done : Status::run;
    for (chunk_ = 0; chunk_ < chunks_.size(); ++chunk_) {
      if (chunks_.size() > 1) rounds_->begin(chunks_[chunk_]);
      const std::string name = exchange_name(fmt::format("round {}", round), chunk_);
      while (!try_exchange(name, status)) {
      }
    }

    if (optimizations_.cleanup != Cleanup::none) {
      begin_phase("cleanup");
      cleanup_time_.add(clean_up(optimizations_.cleanup));
    }
    if (workload_.server_validation) {
      begin_phase("validate");
      memduel_gauge("validation_accuracy_ratio",
                    validate(model_, samples_.validation, workload_.validation_batch_size,
                             optimizations_.make_predictions));
    }
    if (optimizations_.server_gc_rounds > 0) {
      begin_phase("cleanup");
      if (const auto cleaned = collect_point_.round_ended(round))
        cleanup_time_.add(cleaned->report);
    }
    memduel_gauge("transfer_seconds", transfer_time_.take().count());
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
    std::vector<Upload> uploads = exchange_.await_uploads();

    begin_phase("aggregate");
    const BusyTime::Working working(transfer_time_);
    State global;
    try {
      global = rounds_->average(uploads, weights_of(uploads));
    } catch (const ClientLost& lost) {
      lose(lost.client(), lost.what());
      uploads.clear();
      exchange_.answer({nullptr, {{}, Status::again, {}}});
      exchange_.await_delivery();
      return false;
    } catch (const Error& error) {
      throw Error(error.code(), name + ": " + error.what(), error.where(), error.advice());
    }

    begin_phase("broadcast");
    exchange_.answer(
        {prepare_answer(std::move(global), uploads, optimizations_), {{}, status, {}}});
    uploads.clear();
    exchange_.await_delivery();
    return true;
  }

  [[nodiscard]] std::string exchange_name(const std::string& what, std::size_t chunk) const {
    return chunks_.size() == 1 ? what
                               : fmt::format("{}, chunk {} of {}", what, chunk + 1, chunks_.size());
  }

  /// Of one client against the others.
  [[nodiscard]] double weight_of(int client) const {
    return workload_.weights == "equal"
               ? 1
               : static_cast<double>(sample_sizes_[static_cast<std::size_t>(client) - 1]);
  }

  [[nodiscard]] std::vector<double> weights_of(const std::vector<Upload>& uploads) const {
    std::vector<std::int64_t> sizes;
    for (const Upload& upload : uploads)
      sizes.push_back(sample_sizes_[static_cast<std::size_t>(upload.client) - 1]);
    return shares_of(workload_.weights, sizes);
  }

  // ---- handler threads: one call each --------------------------------------------------------

  void handle(Method method, Call& call) {
    WatchedCall watched(call, watchdog_);
    switch (method) {
      case Method::get_configuration:
        send_configuration(watched);
        break;
      case Method::get_global_model:
        send_initial_model(watched);
        break;
      case Method::update_global_model:
        update_global_model(watched);
        break;
      case Method::invoke_custom_action:
        // Not watched: an attending client is silent for the whole run.
        invoke_custom_action(call);
        break;
    }
  }

  /// "client-2" as 2. Throws Error(cannot_measure) for a stranger.
  [[nodiscard]] int client_number(const Call& call) const {
    for (int client = 1; client <= workload_.clients; ++client)
      if (call.peer() == client_name(client)) return client;
    throw Error(ExitCode::cannot_measure,
                fmt::format("found client \"{}\", expected client-1 to client-{}", call.peer(),
                            workload_.clients));
  }

  void send_configuration(Call& call) {
    static_cast<void>(receive_message(call));
    const nlohmann::json configuration = {{"model", workload_.model},
                                          {"rounds", workload_.rounds},
                                          {"local_steps", workload_.local_steps},
                                          {"optimizations", config_.optimizations}};
    send_message(call, {}, configuration.dump());
  }

  void send_initial_model(Call& call) {
    const int client = client_number(call);
    guard(client, [&] {
      static_cast<void>(receive_message(call));
      exchange_.await_open(client);
      CallFrame frame(Side::server);
      deliver(call, client, exchange_.hand_in({client, {}, std::nullopt, nullptr}, call), frame);
    });
  }

  void update_global_model(Call& call) {
    const int client = client_number(call);
    guard(client, [&] {
      // Nothing of a round is read before it begins: its bytes belong to it.
      exchange_.await_open(client);
      if (rounds_->takes_turns()) exchange_.await_turn(client);
      CallFrame frame(Side::server);
      Upload upload = take_upload(client, call, frame);
      expect_current_chunk(client, upload.header);
      deliver(call, client, exchange_.hand_in(std::move(upload), call), frame);
    });
  }

  Upload take_upload(int client, Call& call, CallFrame& frame) {
    const BusyTime::Working working(transfer_time_);
    return rounds_->take(client, weight_of(client), call, frame);
  }

  /// A client that is a chunk ahead or behind would have another tensor averaged.
  void expect_current_chunk(int client, const Header& header) const {
    const ChunkPlace expected{chunk_, chunks_.size()};
    const ChunkPlace found = chunk_place(header);
    if (found != expected)
      throw Error(ExitCode::cannot_measure,
                  fmt::format("found chunk {} of {}, expected {} of {}", found.index + 1,
                              found.total, expected.index + 1, expected.total),
                  client_name(client));
  }

  void deliver(Call& call, int client, const Answer& answer, CallFrame& frame) {
    if (answer.header.status == Status::again) {
      while (call.read()) {
      }
      send(call, optimizations_.framing->wrap_borrowed(answer.header, borrow_state({})),
           optimizations_.piece_bytes);
    } else {
      send(call, answer.response->outgoing(answer.header, frame), optimizations_.piece_bytes);
    }
    exchange_.delivered(client);
  }

  void invoke_custom_action(Call& call) {
    const ReceivedMessage request = receive_message(call);
    const int client = client_number(call);
    if (request.payload == "attend") {
      attend(call, client);
    } else if (request.payload == "set_sample_size") {
      guard(client, [&] {
        sample_sizes_[static_cast<std::size_t>(client) - 1] = sample_size(request.header);
      });
      send_message(call, {}, "");
    } else if (request.payload == "close_connection") {
      exchange_.leave(client);
      send_message(call, {}, "");
    } else {
      throw Error(ExitCode::cannot_measure, fmt::format("unknown action \"{}\"", request.payload),
                  client_name(client));
    }
  }

  /// Ends with the client: properly, or because its process died.
  void attend(Call& call, int client) {
    guard(client, [&] {
      while (call.read()) {
      }
      lose(client, "it ended without closing its connection");
    });
  }

  /// Runs a client's call. When the client breaks off, it is lost; when what it sent is wrong, the
  /// run is. Either way nobody waits for it any longer.
  template <class Work>
  void guard(int client, Work work) {
    try {
      work();
    } catch (const PeerGone& gone) {
      lose(client, gone.what());
      throw;
    } catch (const Error& error) {
      exchange_.refuse(client, error);
      throw;
    } catch (const std::exception& error) {
      exchange_.refuse(client, Error(ExitCode::cannot_measure, error.what(), client_name(client)));
      throw;
    }
  }

  void lose(int client, const std::string& why) {
    if (exchange_.lose(client, why))
      fmt::print(stderr, "memduel-worker: {} was lost: {}; going on without it\n",
                 client_name(client), why);
  }

  const WorkerConfig& config_;
  const WorkloadConfig& workload_;
  const at::Device device_;
  const ServerTurns turns_;
  CleanupTime& cleanup_time_;
  Optimizations optimizations_;
  Exchange exchange_;
  BusyTime transfer_time_;
  Watchdog watchdog_;
  CleanupPolicy collect_point_;
  std::vector<std::atomic<std::int64_t>> sample_sizes_;
  RoleSamples samples_;
  Model model_;
  std::unique_ptr<Rounds> rounds_;
  std::vector<State> chunks_;  ///< aliasing the model; a lone one is begun once for all rounds
  std::size_t chunk_ = 0;      ///< of the exchange that is open
  // Last: its handlers use everything above.
  std::unique_ptr<ServerTransport> transport_;
};

}  // namespace

std::unique_ptr<ServerPart> make_server_part(const WorkerConfig& config, const at::Device& device,
                                             const ServerTurns& turns, CleanupTime& cleanup_time) {
  return std::make_unique<FederatedServer>(config, device, turns, cleanup_time);
}

void run_server(const WorkerConfig& config) {
  const at::Device device = warm_up(config);
  CleanupTime cleanup_time;
  const auto server = make_server_part(config, device, {}, cleanup_time);
  server->prepare();
  write_private_file(config.address_file, server->address());
  server->run();
}

}  // namespace memduel
