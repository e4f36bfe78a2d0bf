// For tests: the last client of a run without training, played by the test: as honest as the others
// (client i adds i/1024 to every element each round) up to a round, then as the test likes.
#pragma once

#include <filesystem>
#include <memory>
#include <thread>

#include "base/file.h"
#include "workloads/federated/role_setup.h"
#include "workloads/federated/server_connection.h"
#include "workloads/federated/test_run.h"

namespace memduel {

class PlayedClient {
 public:
  explicit PlayedClient(const WorkerConfig& config)
      : number_(config.workload.clients),
        optimizations_(
            make_optimizations(config.optimizations, config.workload.transport.max_message_bytes)),
        transport_(open_client(transport_options(config, optimizations_),
                               await_file(config.address_file), client_name(number_))) {
    transport_->connect(std::chrono::seconds(30));
    connection_ =
        std::make_unique<ServerConnection>(*transport_, optimizations_, client_name(number_));
    state_ = connection_->get_global_model({}, nullptr);
  }

  void take_part_in_rounds(int rounds) {
    for (int round = 1; round <= rounds; ++round) {
      for (const NamedTensor& entry : state_) {
        if (entry.tensor.is_floating_point()) entry.tensor.add_(number_ / 1024.0);
      }
      ModelUpdate update = connection_->start_update();
      update.send_state(state_, connection_->header({}));
      state_ = update.receive(nullptr).state;
    }
  }

  [[nodiscard]] State& state() { return state_; }

  /// The next upload, of `state`, for the test to spoil before it is sent.
  Outgoing prepare(const State& state) {
    return optimizations_.serializer->prepare(state, connection_->header({}),
                                              *optimizations_.framing, frame_);
  }
  std::unique_ptr<ClientCall> start_update() {
    return transport_->start(Method::update_global_model);
  }

 private:
  static std::string await_file(const std::filesystem::path& file) {
    while (!std::filesystem::exists(file))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return read_file(file);
  }

  int number_;
  Optimizations optimizations_;
  std::unique_ptr<ClientTransport> transport_;
  std::unique_ptr<ServerConnection> connection_;
  CallFrame frame_{Side::client};
  State state_;
};

}  // namespace memduel
