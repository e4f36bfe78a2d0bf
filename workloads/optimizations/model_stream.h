// An incoming model read from the wire as it comes, without a buffer for the whole.
#pragma once

#include <string>

#include "workloads/transport/message_codec.h"
#include "workloads/transport/pieces.h"
#include "workloads/transport/state_codec.h"

namespace memduel {

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

}  // namespace memduel
