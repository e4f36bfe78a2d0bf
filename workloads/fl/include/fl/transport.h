// One remote call, whatever carries it: messages out, messages in. gRPC and Unix sockets implement
// it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace memduel {

inline constexpr const char* kCallBrokenOff = "the client broke off its call";

/// The four calls of APPFL's service.
enum class Method {
  get_configuration,
  get_global_model,
  update_global_model,
  invoke_custom_action
};
inline constexpr Method kMethods[] = {Method::get_configuration, Method::get_global_model,
                                      Method::update_global_model, Method::invoke_custom_action};
std::string_view method_name(Method method);  ///< "UpdateGlobalModel"

/// The peer ended or broke off before it had said all, or took too long.
class PeerGone : public Error {
 public:
  PeerGone(const std::string& what, const std::string& peer)
      : Error(ExitCode::cannot_measure, what, peer) {}
};

/// A received message. The segments, in order, are its bytes; `owner` keeps them alive.
struct Message {
  std::vector<std::string_view> segments;
  std::shared_ptr<const void> owner;

  [[nodiscard]] std::size_t size() const;
};

/// Part of a message to send; `owner` keeps `bytes` alive and unchanged until they are sent.
struct Segment {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  /// The next message; absent when the peer has ended its side. Throws PeerGone when the peer broke
  /// off and the transport can tell.
  virtual std::optional<Message> read() = 0;

  /// Sends one message. Returns before the bytes are on the wire. Throws PeerGone.
  virtual void write(std::span<const Segment> segments) = 0;

  /// Ends the call from any thread: reads and writes in progress return or throw.
  virtual void cancel() noexcept = 0;

  /// The other side, for messages.
  [[nodiscard]] virtual const std::string& peer() const = 0;
};

class ClientCall : public Call {
 public:
  /// Says that no more messages follow from this side.
  virtual void finish_writing() = 0;

  /// Waits for the server's verdict. Throws Error(cannot_measure) with the server's words.
  virtual void finish() = 0;
};

class ClientTransport {
 public:
  ClientTransport() = default;
  ClientTransport(const ClientTransport&) = delete;
  ClientTransport& operator=(const ClientTransport&) = delete;
  virtual ~ClientTransport() = default;

  /// Throws Error(cannot_measure) when the server does not answer within `within`.
  virtual void connect(std::chrono::milliseconds within) = 0;
  virtual std::unique_ptr<ClientCall> start(Method method) = 0;
};

/// Runs in a thread of its own per call. What it throws becomes the call's verdict.
using CallHandler = std::function<void(Method, Call&)>;

class ServerTransport {
 public:
  ServerTransport() = default;
  ServerTransport(const ServerTransport&) = delete;
  ServerTransport& operator=(const ServerTransport&) = delete;
  virtual ~ServerTransport() = default;

  /// What clients connect to, and the token that they show: for their eyes only.
  [[nodiscard]] virtual const std::string& address() const = 0;

  /// Ends: calls still running after `grace` are cancelled; returns when none runs.
  virtual void stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace memduel
