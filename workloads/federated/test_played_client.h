// For tests: the last client of a run without training, played by the test: as honest as the others
// (client i adds i/1024 to every element each round) up to a round, then as the test likes.
#pragma once

#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

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
    chunks_ = split_state(build_model(config, at::kCPU).state, optimizations_.chunk_bytes);
    state_ = every_chunk(
        [&](std::size_t chunk) { return connection_->get_global_model(place(chunk), nullptr); });
  }

  void take_part_in_rounds(int rounds) {
    for (int round = 1; round <= rounds; ++round) {
      for (const NamedTensor& entry : state_) {
        if (entry.tensor.is_floating_point()) entry.tensor.add_(number_ / 1024.0);
      }
      state_ = every_chunk([&](std::size_t chunk) {
        ModelUpdate update = connection_->start_update();
        update.send_state(select_entries(state_, chunks_[chunk]), header(chunk));
        return update.receive(nullptr).state;
      });
    }
  }

  void attend() { connection_->attend(); }
  /// As if its process ended; calls that it started go on.
  void stop_attending() { connection_.reset(); }
  void set_sample_size(std::int64_t samples) { connection_->set_sample_size(samples); }

  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] State first_chunk() const { return select_entries(state_, chunks_.front()); }

  /// The next upload, of `state`, for the test to spoil before it is sent. @param chunk which one
  /// it says it is.
  Outgoing prepare(const State& state, std::size_t chunk = 0) {
    return optimizations_.serializer->prepare(state, header(chunk), *optimizations_.framing,
                                              frame_);
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

  /// What `take` gives for each chunk, together.
  template <class Take>
  State every_chunk(Take take) const {
    State whole;
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk)
      for (NamedTensor& entry : take(chunk)) whole.push_back(std::move(entry));
    return whole;
  }

  [[nodiscard]] ChunkPlace place(std::size_t chunk) const { return {chunk, chunks_.size()}; }
  [[nodiscard]] Header header(std::size_t chunk) const {
    return connection_->header(chunk_metadata(place(chunk)));
  }

  int number_;
  Optimizations optimizations_;
  std::unique_ptr<ClientTransport> transport_;
  std::unique_ptr<ServerConnection> connection_;
  CallFrame frame_{Side::client};
  std::vector<State> chunks_;
  State state_;
};

}  // namespace memduel
