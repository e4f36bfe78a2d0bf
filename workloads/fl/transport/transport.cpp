#include "workloads/transport/transport_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/random_digits.h"
#include "workloads/transport/access_token.h"
#include "workloads/transport/unix_transport.h"
#ifdef MEMDUEL_HAVE_GRPC
#include "workloads/transport/grpc_transport.h"
#endif

namespace memduel {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<ServerTransport> (*server)(const TransportOptions&, CallHandler);
  std::unique_ptr<ClientTransport> (*client)(const TransportOptions&, const std::string&,
                                             const std::string&);
};

constexpr Kind kKinds[] = {
#ifdef MEMDUEL_HAVE_GRPC
    {"grpc", open_grpc_server, open_grpc_client},
#endif
    {"unix", open_unix_server, open_unix_client},
};

const Kind& find_kind(const std::string& name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind;
  throw Error(ExitCode::usage, fmt::format("this worker has no transport \"{}\"", name),
              "workload.transport.kind",
              "expected grpc (where it was built with MEMDUEL_GRPC) or unix");
}

}  // namespace

std::unique_ptr<ServerTransport> open_server(const TransportOptions& options, CallHandler handler) {
  TransportOptions own = options;
  if (own.token.empty()) own.token = random_digits();
  return find_kind(options.kind).server(own, std::move(handler));
}

std::unique_ptr<ClientTransport> open_client(const TransportOptions& options,
                                             const std::string& address,
                                             const std::string& caller) {
  const Access access = access_from(address);
  TransportOptions own = options;
  own.token = access.token;
  return find_kind(options.kind).client(own, access.address, caller);
}

}  // namespace memduel
