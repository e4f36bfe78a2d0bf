// Calls over Unix sockets, for builds without gRPC: one connection per call, on an abstract name
// that the kernel chooses.
//
// Frame: one byte kind, u32 little-endian length, bytes. From the client first 'M' with the
// method's name, 'N' with the caller's, then 'D' messages, 'E' at the end of its side; from the
// server 'D' messages, then 'E' (success) or 'X' with what went wrong.
#pragma once

#include "workloads/transport/transport_options.h"

namespace memduel {

std::unique_ptr<ServerTransport> open_unix_server(const TransportOptions& options,
                                                  CallHandler handler);
std::unique_ptr<ClientTransport> open_unix_client(const TransportOptions& options,
                                                  const std::string& address,
                                                  const std::string& caller);

}  // namespace memduel
