#include "server_connection.h"

#include <fmt/format.h>

#include <future>

#include "util/error.h"
#include "util/json.h"

namespace memduel {

void send_message(Call& call, const Header& header, const std::string& payload) {
  const std::string bytes = encode_message(header, payload);
  send_pieces_copied(call, bytes, bytes.size());
}

ReceivedMessage receive_message(Call& call) {
  const std::optional<CopiedPiece> piece = read_piece_copied(call);
  if (!piece)
    throw Error(ExitCode::cannot_measure, "the call ended without a message", call.peer());
  const DecodedMessage decoded = decode_message(piece->data, call.peer());
  return {decoded.header, piece->data.substr(decoded.payload_offset)};
}

nlohmann::json chunk_metadata(const ChunkPlace& place) {
  if (place.total == 1) return nlohmann::json::object();
  return {{"_chunk_idx", place.index}, {"_total_chunks", place.total}};
}

ChunkPlace chunk_place(const Header& header) {
  if (header.metadata.empty()) return {};
  const auto json = parse_foreign_json(header.metadata);
  const auto number = [&](const char* key, std::size_t otherwise) {
    if (!json.is_object() || !json.contains(key)) return otherwise;
    if (!json.at(key).is_number_unsigned())
      throw Error(ExitCode::cannot_measure,
                  fmt::format("expected a whole number for {}, found {}", key, json.at(key).dump()),
                  header.client_id);
    return json.at(key).get<std::size_t>();
  };
  return {number("_chunk_idx", 0), number("_total_chunks", 1)};
}

std::int64_t sample_size(const Header& header) {
  const auto json = parse_foreign_json(header.metadata);
  const auto found = json.is_object() ? json.value("sample_size", nlohmann::json()) : json;
  if (!found.is_number_integer() || found.get<std::int64_t>() < 0)
    throw Error(
        ExitCode::cannot_measure,
        fmt::format("expected a whole number from 0 for sample_size, found {}", found.dump()),
        header.client_id);
  return found.get<std::int64_t>();
}

ModelUpdate::ModelUpdate(std::unique_ptr<ClientCall> call, const Optimizations& optimizations)
    : optimizations_(optimizations), call_(std::move(call)) {}

void ModelUpdate::send_state(const State& state, const Header& header) {
  Outgoing outgoing =
      optimizations_.upload_serializer->prepare(state, header, *optimizations_.framing, frame_);
  hold_serialized(*optimizations_.garbage, outgoing);
  if (outgoing.borrowed) {
    send(*call_, std::move(outgoing), optimizations_.piece_bytes);
  } else {
    // gRPC's Python client takes its pieces from the generator in a thread of their own, which
    // has its own arena of the allocator.
    std::async(std::launch::async, [&] {
      send(*call_, std::move(outgoing), optimizations_.piece_bytes);
    }).get();
  }
  call_->finish_writing();
}

IncomingModel ModelUpdate::receive(const State* into) {
  try {
    IncomingModel model = optimizations_.receiver->receive(*call_, frame_, into);
    call_->finish();
    return model;
  } catch (const Error&) {
    // When the server gave up, its own words say more than the cut stream.
    call_->finish();
    throw;
  }
}

ServerConnection::ServerConnection(ClientTransport& transport, const Optimizations& optimizations,
                                   std::string name)
    : transport_(transport), optimizations_(optimizations), name_(std::move(name)) {}

Header ServerConnection::header(const nlohmann::json& metadata) const {
  return {name_, Status::run, metadata.empty() ? "" : metadata.dump()};
}

std::string ServerConnection::ask(Method method, const std::string& payload,
                                  const nlohmann::json& metadata) {
  const std::unique_ptr<ClientCall> call = transport_.start(method);
  send_message(*call, header(metadata), payload);
  call->finish_writing();
  try {
    std::string answer = receive_message(*call).payload;
    call->finish();
    return answer;
  } catch (const Error&) {
    call->finish();
    throw;
  }
}

nlohmann::json ServerConnection::get_configuration() {
  return nlohmann::json::parse(ask(Method::get_configuration, "", {}));
}

State ServerConnection::get_global_model(const ChunkPlace& chunk, const State* into) {
  const std::unique_ptr<ClientCall> call = transport_.start(Method::get_global_model);
  nlohmann::json metadata = {{"init_model", true}};
  metadata.update(chunk_metadata(chunk));
  send_message(*call, header(metadata), "");
  call->finish_writing();
  CallFrame frame(Side::client);
  try {
    State state = optimizations_.receiver->receive(*call, frame, into).state;
    call->finish();
    return state;
  } catch (const Error&) {
    call->finish();
    throw;
  }
}

ModelUpdate ServerConnection::start_update() {
  return {transport_.start(Method::update_global_model), optimizations_};
}

void ServerConnection::invoke_action(const std::string& action, const nlohmann::json& metadata) {
  ask(Method::invoke_custom_action, action, metadata);
}

void ServerConnection::attend() {
  attendance_ = transport_.start(Method::invoke_custom_action);
  send_message(*attendance_, header({}), "attend");
}

void ServerConnection::set_sample_size(std::int64_t samples) {
  invoke_action("set_sample_size", {{"sample_size", samples}});
}

void ServerConnection::close() {
  invoke_action("close_connection", {});
  attendance_->finish_writing();
  attendance_->finish();
}

}  // namespace memduel
