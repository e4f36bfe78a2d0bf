// A message with a model, ready to be cut into pieces.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workloads/transport/call.h"

namespace memduel {

struct Outgoing {
  std::string first;          ///< sent before the body, in a piece of its own; empty: nothing
  std::vector<Segment> body;  ///< one segment unless borrowed
  bool borrowed = false;      ///< sent from where it lies; else cut with a program's usual copies
};

/// Sends all of it; the body's owners are let go of on return (and by the transport once sent).
void send(Call& call, Outgoing outgoing, std::size_t piece_bytes);

}  // namespace memduel
