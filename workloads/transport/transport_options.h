// How a transport is opened.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "workloads/transport/call.h"

namespace memduel {

struct TransportOptions {
  std::string kind = "grpc";  ///< grpc or unix
  int port = 0;               ///< 0: any free port; grpc only
  std::size_t max_message_bytes = 10485760;
  /// Switch flow_control=bounded: gRPC does not grow its HTTP/2 window beyond 64 KiB.
  bool bounded_window = false;
  double deadline_seconds = 600;  ///< of one call
  std::string token = {};         ///< of the server; a new one where it is empty
};

/// Listens on the loopback and serves with `handler` until stopped. Throws Error(cannot_measure)
/// when the port is taken, Error(usage) for an unknown kind.
std::unique_ptr<ServerTransport> open_server(const TransportOptions& options, CallHandler handler);

/// Makes a client for the server whose address() this is; does not connect yet. `caller` is what
/// the server's calls answer to peer(): "client-2".
std::unique_ptr<ClientTransport> open_client(const TransportOptions& options,
                                             const std::string& address, const std::string& caller);

}  // namespace memduel
