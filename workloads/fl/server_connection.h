// A client's side of the four calls.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "fl/models.h"
#include "fl/transport.h"
#include "optimizations/optimizations.h"

namespace memduel {

/// Which chunk of a model a message carries, as APPFL's metadata says it; an unchunked model is
/// chunk 0 of 1.
struct ChunkPlace {
  std::size_t index = 0;
  std::size_t total = 1;
  bool operator==(const ChunkPlace&) const = default;
};
nlohmann::json chunk_metadata(const ChunkPlace& place);
/// Throws Error(cannot_measure) on malformed metadata.
ChunkPlace chunk_place(const Header& header);

/// How many samples a client says that it has. Throws Error(cannot_measure) naming it where that is
/// no number of samples.
std::int64_t sample_size(const Header& header);

/// One UpdateGlobalModel call in its two halves, so that each can be a phase of its own.
class ModelUpdate {
 public:
  ModelUpdate(std::unique_ptr<ClientCall> call, const Optimizations& optimizations);

  void send_state(const State& state, const Header& header);
  /// Waits for the new global model. @param into as in ModelReceiver.
  IncomingModel receive(const State* into);

 private:
  const Optimizations& optimizations_;
  CallFrame frame_{Side::client};
  std::unique_ptr<ClientCall> call_;
};

class ServerConnection {
 public:
  /// @param name the client's: "client-2". References must outlive the connection.
  ServerConnection(ClientTransport& transport, const Optimizations& optimizations,
                   std::string name);

  nlohmann::json get_configuration();
  State get_global_model(const ChunkPlace& chunk, const State* into);
  ModelUpdate start_update();
  [[nodiscard]] Header header(const nlohmann::json& metadata) const;

  /// Keeps a call open for the whole run, so that the server learns at once when this process dies.
  void attend();
  void set_sample_size(std::int64_t samples);
  /// Says goodbye; the server waits for it.
  void close();

 private:
  void invoke_action(const std::string& action, const nlohmann::json& metadata);
  std::string ask(Method method, const std::string& payload, const nlohmann::json& metadata);

  ClientTransport& transport_;
  const Optimizations& optimizations_;
  std::string name_;
  std::unique_ptr<ClientCall> attendance_;
};

/// Sends one message in one piece and takes one message in one piece. Both ends of the calls that
/// carry no model.
void send_message(Call& call, const Header& header, const std::string& payload);
struct ReceivedMessage {
  Header header;
  std::string payload;
};
ReceivedMessage receive_message(Call& call);

}  // namespace memduel
