// APPFL's chunked transfer: long messages travel as DataBuffers of a limited size. Two ways to make
// and to take them: as the Python program does, copy by copy, and without copies. On top of it a
// message with a model, ready to be cut into pieces, and an incoming model, read from the wire as
// it comes, without a buffer for the whole.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fl/transport.h"
#include "message_codec.h"

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

class ModelStream {
 public:
  /// Continues after `header`; `carry` are model bytes that were read along with it.
  ModelStream(PieceReader reader, Header header, std::string carry);

  [[nodiscard]] const Header& header() const { return header_; }

  /// Reads the state's table; call once, first. Throws Error(cannot_measure) on malformed bytes.
  StateTable read_table();

  /// The next `size` bytes of tensor data, in the table's order and without its padding. Throws
  /// Error(cannot_measure) when the stream ends early.
  void read_data(char* to, std::size_t size);

  /// Bytes of the current tensor that can be read without waiting for another piece.
  [[nodiscard]] std::size_t data_at_hand() const;

  /// Throws Error(cannot_measure) when bytes are left after the state.
  void expect_end();

 private:
  void read(char* to, std::size_t size);
  void skip_padding();

  PieceReader reader_;
  Header header_;
  std::string carry_;
  std::size_t carried_ = 0;  ///< bytes of carry_ already handed out
  StateTable table_;
  std::size_t tensor_ = 0;    ///< whose data comes next
  std::size_t position_ = 0;  ///< bytes of the state read so far
};

struct Outgoing {
  std::string first;          ///< sent before the body, in a piece of its own; empty: nothing
  std::vector<Segment> body;  ///< one segment unless borrowed
  bool borrowed = false;      ///< sent from where it lies; else cut with a program's usual copies
};

/// Sends all of it; the body's owners are let go of on return (and by the transport once sent).
void send(Call& call, Outgoing outgoing, std::size_t piece_bytes);

}  // namespace memduel
