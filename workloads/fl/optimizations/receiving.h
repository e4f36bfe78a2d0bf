// Switch receive: how the pieces of an incoming model are put together.
#pragma once

#include <memory>
#include <string>

#include "workloads/federated/state.h"
#include "workloads/optimizations/deserialize.h"
#include "workloads/optimizations/framing.h"

namespace memduel {

struct IncomingModel {
  Header header;
  State state;
};

class ModelReceiver {
 public:
  ModelReceiver() = default;
  ModelReceiver(const ModelReceiver&) = delete;
  ModelReceiver& operator=(const ModelReceiver&) = delete;
  virtual ~ModelReceiver() = default;

  /// @param into tensors that may be filled directly; absent: new ones are made. Throws
  /// Error(cannot_measure) on malformed bytes and on tensors that differ from `into`.
  [[nodiscard]] virtual IncomingModel receive(Call& call, CallFrame& frame,
                                              const State* into) const = 0;
};

struct ReceiveParts {
  const Framing& framing;            ///< must outlive the receiver
  const Deserializer& deserializer;  ///< likewise; into_tensors does without
};

/// @param value concatenate: bytes += piece on the client (a new buffer each time), a list joined
/// on the server; bytearray: one growing buffer; chunk_list: a list, written to a stream, read out
/// of it; new_tensors: each piece goes to its place in tensors made for it; into_tensors: in those
/// of the model.
std::unique_ptr<ModelReceiver> make_receiver(const std::string& value, ReceiveParts parts);

}  // namespace memduel
