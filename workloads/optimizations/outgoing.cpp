#include "workloads/optimizations/outgoing.h"

#include "workloads/transport/pieces.h"

namespace memduel {

void send(Call& call, Outgoing outgoing, std::size_t piece_bytes) {
  if (!outgoing.first.empty()) send_pieces_copied(call, outgoing.first, outgoing.first.size());
  if (outgoing.borrowed) {
    send_pieces_borrowed(call, outgoing.body, piece_bytes);
  } else {
    for (const Segment& segment : outgoing.body)
      send_pieces_copied(call, segment.bytes, piece_bytes);
  }
}

}  // namespace memduel
