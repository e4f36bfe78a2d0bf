#include <fmt/format.h>

#include <atomic>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "memduel/annotate.h"
#include "workloads/federated/exchange.h"
#include "workloads/federated/model_file.h"
#include "workloads/federated/role_setup.h"
#include "workloads/federated/roles.h"
#include "workloads/federated/rounds.h"
#include "workloads/federated/samples.h"
#include "workloads/federated/server_connection.h"
#include "workloads/federated/validate.h"
#include "workloads/probes/gauges.h"

namespace memduel {
namespace {

constexpr std::chrono::milliseconds kStopGrace{2000};

class FederatedServer {
 public:
  explicit FederatedServer(const WorkerConfig& config)
      : config_(config),
        workload_(config.workload),
        optimizations_(
            make_optimizations(config.optimizations, workload_.transport.max_message_bytes)),
        exchange_(workload_.clients, deadline_in(workload_.deadline_seconds)),
        sample_sizes_(static_cast<std::size_t>(workload_.clients)),
        samples_(load_samples(config, 0)),
        transport_(open_server(transport_options(config, optimizations_),
                               [this](Method method, Call& call) { handle(method, call); })) {
    memduel_idle();
    model_ = build_model(config);
    rounds_ = make_rounds(config, optimizations_, model_);
    write_file_atomically(config.address_file, transport_->address());
  }

  FederatedServer(const FederatedServer&) = delete;
  FederatedServer& operator=(const FederatedServer&) = delete;
  ~FederatedServer() { transport_->stop(std::chrono::milliseconds(0)); }

  void run() {
    try {
      distribute_initial_model();
      for (int round = 1; round <= workload_.rounds; ++round) run_round(round);
      exchange_.await_all_left();
    } catch (const Error& error) {
      // Releases every handler, so that all clients learn why.
      exchange_.fail(error);
      transport_->stop(kStopGrace);
      throw;
    }
    transport_->stop(kStopGrace);
    write_model_file(config_.model_file, model_.state);
  }

 private:
  // ---- the main thread: rounds -------------------------------------------------------------

  void distribute_initial_model() {
    exchange_.open("initial model");
    exchange_.await_uploads();
    exchange_.answer({optimizations_.responder->prepare(rounds_->initial()), {}});
    exchange_.await_delivery();
  }

  void run_round(int round) {
    memduel_round_begin(round);
    memduel_phase("upload");
    exchange_.open(fmt::format("round {}", round));
    std::vector<Upload> uploads = exchange_.await_uploads();

    memduel_phase("aggregate");
    State global = rounds_->average(uploads, weights_of(uploads));
    if (optimizations_.local_models == LocalModels::cleared_first) uploads.clear();

    memduel_phase("broadcast");
    const Status status = round == workload_.rounds ? Status::done : Status::run;
    exchange_.answer({optimizations_.responder->prepare(std::move(global)), {{}, status, {}}});
    uploads.clear();
    exchange_.await_delivery();

    if (optimizations_.cleanup != Cleanup::none) {
      memduel_phase("cleanup");
      clean_up(optimizations_.cleanup);
    }
    if (workload_.server_validation) {
      memduel_phase("validate");
      memduel_gauge("validation_accuracy_ratio",
                    validate(model_, samples_.validation, workload_.validation_batch_size,
                             optimizations_.make_predictions));
    }
    send_memory_gauges();
    memduel_round_end(round);
  }

  [[nodiscard]] std::vector<double> weights_of(const std::vector<Upload>& uploads) const {
    if (workload_.weights == "equal")
      return std::vector<double>(uploads.size(), 1.0 / static_cast<double>(uploads.size()));
    std::vector<double> sizes;
    for (const Upload& upload : uploads)
      sizes.push_back(
          static_cast<double>(sample_sizes_[static_cast<std::size_t>(upload.client) - 1]));
    const double total = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    if (!(total > 0))
      throw Error(ExitCode::cannot_measure, "all clients together have no samples to weigh by",
                  "workload.weights");
    for (double& size : sizes) size /= total;
    return sizes;
  }

  // ---- handler threads: one call each --------------------------------------------------------

  void handle(Method method, Call& call) {
    switch (method) {
      case Method::get_configuration:
        send_configuration(call);
        break;
      case Method::get_global_model:
        send_initial_model(call);
        break;
      case Method::update_global_model:
        update_global_model(call);
        break;
      case Method::invoke_custom_action:
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
      deliver(call, client, exchange_.hand_in({client, {}, std::nullopt, nullptr}), frame);
    });
  }

  void update_global_model(Call& call) {
    const int client = client_number(call);
    guard(client, [&] {
      // Nothing of a round is read before it begins: its bytes belong to it.
      exchange_.await_open(client);
      CallFrame frame(Side::server);
      const Answer answer = exchange_.hand_in(rounds_->take(client, call, frame));
      deliver(call, client, answer, frame);
    });
  }

  void deliver(Call& call, int client, const Answer& answer, CallFrame& frame) {
    send(call, answer.response->outgoing(answer.header, frame), optimizations_.piece_bytes);
    exchange_.delivered(client);
  }

  void invoke_custom_action(Call& call) {
    const ReceivedMessage request = receive_message(call);
    const int client = client_number(call);
    if (request.payload == "attend") {
      attend(call, client);
    } else if (request.payload == "set_sample_size") {
      sample_sizes_[static_cast<std::size_t>(client) - 1] =
          nlohmann::json::parse(request.header.metadata).at("sample_size").get<std::int64_t>();
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
      exchange_.lose(client, "it ended without closing its connection");
    });
  }

  /// Runs a client's call; when that fails, the client is lost and everybody is released.
  template <class Work>
  void guard(int client, Work work) {
    try {
      work();
    } catch (const Error& error) {
      exchange_.lose(client, error.what());
      throw;
    }
  }

  const WorkerConfig& config_;
  const WorkloadConfig& workload_;
  Optimizations optimizations_;
  Exchange exchange_;
  std::vector<std::atomic<std::int64_t>> sample_sizes_;
  RoleSamples samples_;
  Model model_;
  std::unique_ptr<Rounds> rounds_;
  // Last: its handlers use everything above.
  std::unique_ptr<ServerTransport> transport_;
};

}  // namespace

void run_server(const WorkerConfig& config) {
  warm_up(config);
  FederatedServer(config).run();
}

}  // namespace memduel
