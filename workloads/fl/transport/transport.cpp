// Servers and clients by the kind of their transport, the token that clients show, and what all
// calls have in common.

#include "fl/transport.h"

#include <fmt/format.h>

#include "access_token.h"
#include "util/bytes.h"
#include "util/error.h"

namespace memduel {

std::string_view method_name(Method method) {
  switch (method) {
    case Method::get_configuration:
      return "GetConfiguration";
    case Method::get_global_model:
      return "GetGlobalModel";
    case Method::update_global_model:
      return "UpdateGlobalModel";
    case Method::invoke_custom_action:
      return "InvokeCustomAction";
  }
  return "";
}

std::size_t Message::size() const {
  std::size_t total = 0;
  for (const std::string_view segment : segments) total += segment.size();
  return total;
}

std::string to_text(const Access& access) {
  return access.address + "#" + access.token;
}

Access access_from(const std::string& text) {
  const std::size_t mark = text.rfind('#');
  if (mark == std::string::npos)
    throw Error(ExitCode::cannot_measure,
                fmt::format("expected ADDRESS#TOKEN of a server, found \"{}\"", text));
  return {text.substr(0, mark), text.substr(mark + 1)};
}

bool is_same_token(std::string_view given, std::string_view expected) {
  unsigned char differs = given.size() != expected.size() ? 1 : 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    differs |= static_cast<unsigned char>(i < given.size() ? given[i] ^ expected[i] : 1);
  return differs == 0;
}

}  // namespace memduel

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
