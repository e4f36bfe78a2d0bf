// Switch response: how the new global state reaches the clients' handlers.
#pragma once

#include <memory>
#include <string>

#include "workloads/optimizations/serialize.h"

namespace memduel {

/// One round's answer, shared by all handlers.
class PreparedResponse {
 public:
  PreparedResponse() = default;
  PreparedResponse(const PreparedResponse&) = delete;
  PreparedResponse& operator=(const PreparedResponse&) = delete;
  virtual ~PreparedResponse() = default;

  /// Called in each client's handler.
  [[nodiscard]] virtual Outgoing outgoing(const Header& header, CallFrame& frame) const = 0;
};

class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  [[nodiscard]] virtual std::shared_ptr<const PreparedResponse> prepare(State state) const = 0;
};

struct ResponseParts {
  const Framing& framing;  ///< both must outlive the responder and what it prepares
  const Serializer& serializer;
};

/// @param value serialized_per_client: each handler makes its own copies; shared_buffer: encoded
/// once for all; streamed_from_tensors: sent from the tensors.
std::unique_ptr<Responder> make_responder(const std::string& value, ResponseParts parts);

}  // namespace memduel
