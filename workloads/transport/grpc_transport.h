// Calls over gRPC on the loopback, as streams of DataBuffers.
#pragma once

#include "workloads/transport/transport_options.h"

namespace memduel {

std::unique_ptr<ServerTransport> open_grpc_server(const TransportOptions& options,
                                                  CallHandler handler);
std::unique_ptr<ClientTransport> open_grpc_client(const TransportOptions& options,
                                                  const std::string& address,
                                                  const std::string& caller);
std::string grpc_version();

}  // namespace memduel
