// Switch framing: where a model stands in its message.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workloads/optimizations/call_frame.h"
#include "workloads/optimizations/model_stream.h"
#include "workloads/optimizations/outgoing.h"
#include "workloads/transport/bytes.h"

namespace memduel {

/// Whether a message that copies the model stays alive in the sender's frame.
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
/// metadata_then_raw: a message without a model, then the model's bytes.
std::unique_ptr<Framing> make_framing(const std::string& value);

}  // namespace memduel
