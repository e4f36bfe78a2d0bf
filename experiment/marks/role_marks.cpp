#include "experiment/marks/role_marks.h"

namespace memduel {

std::vector<Mark> RoleMarks::receive_marks() {
  // Bounded, so that a process that marks without end does not keep us from everything else.
  constexpr int kMaxPieces = 256;
  std::vector<Mark> received;
  for (int pieces = 0; pieces < kMaxPieces; ++pieces) {
    const auto piece = receive();
    if (!piece) break;
    MarkReader& reader = readers_[piece->sender];
    const int garbage_before = reader.garbage_lines();
    for (Mark& mark : reader.feed(piece->bytes)) {
      if (marking_pid == 0 && mark.kind == Mark::Kind::start) marking_pid = piece->sender;
      if (piece->sender == marking_pid) {
        received.push_back(std::move(mark));
      } else {
        ++foreign_marks;
      }
    }
    garbage_lines += reader.garbage_lines() - garbage_before;
  }
  return received;
}

}  // namespace memduel
