// Switch serialize: how a state becomes the bytes to send.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/federated/state.h"
#include "workloads/optimizations/framing.h"

namespace memduel {

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

/// The encoded state in one buffer of exactly its size.
SharedBytes encode_state(const State& state);

/// The encoded state as borrowed segments. A tensor's storage lives, and must not change, until its
/// segment's owner is let go of. Of tensors on a device copies are borrowed, all of them at once.
std::vector<Segment> borrow_state(const State& state);

}  // namespace memduel
