// How a model is sent. Switch framing: where it stands in its message. Switch serialize: how a
// state becomes the bytes to send. Switch response: how the new global state reaches the clients'
// handlers. A call's frame: what a Python function's frame keeps alive, the objects that its
// locals still name until it returns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fl/models.h"
#include "fl/state_lifetimes.h"
#include "fl/transport.h"
#include "transport/chunked_transfer.h"

namespace memduel {

enum class Side { client, server };

class CallFrame {
 public:
  explicit CallFrame(Side side) : side_(side) {}

  [[nodiscard]] Side side() const { return side_; }
  void keep(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }
  void release() { kept_.clear(); }

 private:
  Side side_;
  std::vector<std::shared_ptr<const void>> kept_;
};

/// Whether a message that copies the model stays alive in the frame of the call.
enum class CopyLifetime { kept, scoped };

struct GatheredModel {
  Header header;
  SharedBytes bytes;  ///< the encoded state
};

/// Collects the data of all remaining pieces of a call.
using GatherPieces = std::function<SharedBytes(Call&, CallFrame&)>;

class Framing {
 public:
  Framing() = default;
  Framing(const Framing&) = delete;
  Framing& operator=(const Framing&) = delete;
  virtual ~Framing() = default;

  /// A message around an encoded state in one buffer.
  [[nodiscard]] virtual Outgoing wrap(const Header& header, SharedBytes model,
                                      CopyLifetime lifetime, CallFrame& frame) const = 0;

  /// A message around a state that lies in several places, without copying it.
  [[nodiscard]] virtual Outgoing wrap_borrowed(const Header& header,
                                               std::vector<Segment> model) const = 0;

  /// Receives a message with a model into one buffer.
  [[nodiscard]] virtual GatheredModel gather(Call& call, const GatherPieces& pieces,
                                             CallFrame& frame) const = 0;

  /// Receives a message up to the model's first byte.
  [[nodiscard]] virtual std::unique_ptr<ModelStream> open(Call& call) const = 0;
};

/// @param value embedded_in_message: the model is a field of the message, as APPFL's original does;
/// embedded_then_freed: the same, and a client frees what it received once it is parsed;
/// metadata_then_raw: a message without a model, then the model's bytes.
std::unique_ptr<Framing> make_framing(const std::string& value);

class Serializer {
 public:
  Serializer() = default;
  Serializer(const Serializer&) = delete;
  Serializer& operator=(const Serializer&) = delete;
  virtual ~Serializer() = default;

  [[nodiscard]] virtual Outgoing prepare(const State& state, const Header& header,
                                         const Framing& framing, CallFrame& frame) const = 0;
};

/// @param value buffered_copies: into a growing buffer that stays, with every copy made of it,
/// until the call returns; scoped_buffer: into one buffer of the right size that goes once it is
/// sent; streamed_from_tensors: straight from tensor storage.
std::unique_ptr<Serializer> make_serializer(const std::string& value);

/// The encoded state as borrowed segments. A tensor's storage lives, and must not change, until its
/// segment's owner is let go of. Of tensors on a device copies are borrowed, all of them at once.
std::vector<Segment> borrow_state(const State& state);

/// Holds the bytes that a state was serialized to in Cycle::serialized.
void hold_serialized(Garbage& garbage, const Outgoing& outgoing);

/// One round's answer, shared by all handlers.
class PreparedResponse {
 public:
  PreparedResponse() = default;
  PreparedResponse(const PreparedResponse&) = delete;
  PreparedResponse& operator=(const PreparedResponse&) = delete;
  virtual ~PreparedResponse() = default;

  /// Called once in each client's handler.
  [[nodiscard]] virtual Outgoing outgoing(const Header& header, CallFrame& frame) const = 0;
};

class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  /// @param receivers how many handlers will ask for it.
  [[nodiscard]] virtual std::shared_ptr<const PreparedResponse> prepare(State state,
                                                                        int receivers) const = 0;
};

struct ResponseParts {
  const Framing& framing;  ///< both must outlive the responder and what it prepares
  const Serializer& serializer;
};

/// @param value serialized_per_client: each handler makes its own copies; serialized_then_dropped:
/// the same, and the state goes once all have them; shared_buffer: encoded once for all;
/// streamed_from_tensors: sent from the tensors.
std::unique_ptr<Responder> make_responder(const std::string& value, ResponseParts parts);

}  // namespace memduel
