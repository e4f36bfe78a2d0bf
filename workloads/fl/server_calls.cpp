#include "server_calls.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fl/models.h"
#include "fl/roles.h"
#include "util/error.h"

namespace memduel {

void ServerTable::lose(int client, const std::string& why) {
  if (exchange.lose(client, why))
    fmt::print(stderr, "memduel-worker: {} was lost: {}; continuing without it\n",
               client_name(client), why);
}

/// Runs a client's call. When the client breaks off, it is lost; when what it sent is wrong, the
/// run is. Either way nobody waits for it any longer.
template <class Work>
void ServerCalls::guard(int client, Work work) {
  try {
    work();
  } catch (const PeerGone& gone) {
    table_.lose(client, gone.what());
    throw;
  } catch (const Error& error) {
    table_.exchange.refuse(client, error);
    throw;
  } catch (const std::exception& error) {
    table_.exchange.refuse(client,
                           Error(ExitCode::cannot_measure, error.what(), client_name(client)));
    throw;
  }
}

/// Of one client against the others.
double ServerCalls::weight_of(int client) const {
  return table_.config.workload.weights == "equal"
             ? 1
             : static_cast<double>(table_.sample_sizes[static_cast<std::size_t>(client) - 1]);
}

void ServerCalls::handle(Method method, Call& call) {
  WatchedCall watched(call, table_.watchdog);
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
int ServerCalls::client_number(const Call& call) const {
  for (int client = 1; client <= table_.config.workload.clients; ++client)
    if (call.peer() == client_name(client)) return client;
  throw Error(ExitCode::cannot_measure,
              fmt::format("expected client-1 to client-{}, found client \"{}\"",
                          table_.config.workload.clients, call.peer()));
}

void ServerCalls::send_configuration(Call& call) const {
  static_cast<void>(receive_message(call));
  const nlohmann::json configuration = {{"model", table_.config.workload.model},
                                        {"rounds", table_.config.workload.rounds},
                                        {"local_steps", table_.config.workload.local_steps},
                                        {"switches", table_.config.optimizations}};
  send_message(call, {}, configuration.dump());
}

void ServerCalls::send_initial_model(Call& call) {
  const int client = client_number(call);
  guard(client, [&] {
    static_cast<void>(receive_message(call));
    table_.exchange.await_open(client);
    CallFrame frame(Side::server);
    deliver(call, client, table_.exchange.hand_in({client, {}, std::nullopt, nullptr}, call),
            frame);
  });
}

void ServerCalls::update_global_model(Call& call) {
  const int client = client_number(call);
  guard(client, [&] {
    // Nothing of a round is read before it begins: its bytes belong to it.
    table_.exchange.await_open(client);
    if (table_.rounds->takes_turns() || table_.optimizations.receives_in_turn)
      table_.exchange.await_turn(client);
    CallFrame frame(Side::server);
    Upload upload = take_upload(client, call, frame);
    expect_current_chunk(client, upload.header);
    deliver(call, client, table_.exchange.hand_in(std::move(upload), call), frame);
  });
}

Upload ServerCalls::take_upload(int client, Call& call, CallFrame& frame) {
  const BusyTime::Working working(table_.transfer_time);
  return table_.rounds->take(client, weight_of(client), call, frame);
}

/// A client that is a chunk ahead or behind would have another tensor averaged.
void ServerCalls::expect_current_chunk(int client, const Header& header) const {
  const ChunkPlace& expected = table_.chunk;
  const ChunkPlace found = chunk_place(header);
  if (found != expected)
    throw Error(ExitCode::cannot_measure,
                fmt::format("expected chunk {} of {}, found {} of {}", expected.index + 1,
                            expected.total, found.index + 1, found.total),
                client_name(client));
}

void ServerCalls::deliver(Call& call, int client, const Answer& answer, CallFrame& frame) {
  if (answer.header.status == Status::again) {
    while (call.read()) {
    }
    send(call, table_.optimizations.framing->wrap_borrowed(answer.header, borrow_state({})),
         table_.optimizations.piece_bytes);
  } else {
    Outgoing outgoing = answer.response->outgoing(answer.header, frame);
    hold_serialized(*table_.optimizations.garbage, outgoing);
    send(call, std::move(outgoing), table_.optimizations.piece_bytes);
  }
  table_.exchange.delivered(client);
}

void ServerCalls::invoke_custom_action(Call& call) {
  const ReceivedMessage request = receive_message(call);
  const int client = client_number(call);
  if (request.payload == "attend") {
    attend(call, client);
  } else if (request.payload == "set_sample_size") {
    guard(client, [&] {
      table_.sample_sizes[static_cast<std::size_t>(client) - 1] = sample_size(request.header);
    });
    send_message(call, {}, "");
  } else if (request.payload == "close_connection") {
    table_.exchange.leave(client);
    send_message(call, {}, "");
  } else {
    throw Error(ExitCode::cannot_measure, fmt::format("unknown action \"{}\"", request.payload),
                client_name(client));
  }
}

/// Ends with the client: properly, or because its process died.
void ServerCalls::attend(Call& call, int client) {
  guard(client, [&] {
    while (call.read()) {
    }
    table_.lose(client, "it ended without closing its connection");
  });
}

}  // namespace memduel
