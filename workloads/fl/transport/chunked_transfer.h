// Long messages travel as DataBuffers of a limited size. Two ways to make and to take them: as the
// Python program does, copy by copy, and without copies.
#pragma once

#include <string>
#include <vector>

#include "workloads/transport/call.h"

namespace memduel {

/// Sends `bytes` in pieces as the Python program does: the slice, the DataBuffer's field, the
/// serialized DataBuffer and the transport's own copy of it are alive at once, each one piece long.
void send_pieces_copied(Call& call, std::string_view bytes, std::size_t piece_bytes);

/// Sends `segments` in pieces, each a DataBuffer prefix and borrowed bytes. The first segment,
/// which says what follows, shares none: who has read it holds nothing yet of what follows.
void send_pieces_borrowed(Call& call, std::span<const Segment> segments, std::size_t piece_bytes);

/// A received piece as the Python program holds it: the parsed DataBuffer and the bytes that
/// reading its field makes.
struct CopiedPiece {
  std::string message;
  std::string data;
};

/// The next piece, joined, parsed and read: three copies, of which two are alive afterwards. Absent
/// at the end.
std::optional<CopiedPiece> read_piece_copied(Call& call);

/// Reads the data of consecutive DataBuffers as one stream, without copies.
class PieceReader {
 public:
  explicit PieceReader(Call& call) : call_(call) {}

  /// At most `most` bytes that lie together; empty at the end of the stream. Valid until the next
  /// call.
  std::string_view read_some(std::size_t most);

  /// Exactly `size` bytes; a message is let go of with its last byte. Throws Error(cannot_measure)
  /// when the stream ends before.
  void read_exactly(char* to, std::size_t size);

  /// Bytes that can be read without waiting for another message.
  [[nodiscard]] std::size_t left_of_message() const;

  /// What is left of the current message; reads the next one when nothing is. Empty at the end.
  std::string read_rest_of_message();

  [[nodiscard]] const std::string& peer() const { return call_.peer(); }

 private:
  bool next_message();
  void drop_message();

  Call& call_;
  Message message_;
  std::size_t segment_ = 0;   ///< within message_
  std::size_t position_ = 0;  ///< within the segment
};

}  // namespace memduel
