#include "chunked_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "message_codec.h"
#include "util/error.h"

namespace memduel {
namespace {

// A tag byte and a ten-byte length at most.
constexpr std::size_t kPrefixBytes = 16;

Segment owned(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {*owner, owner};
}

}  // namespace

void send_pieces_copied(Call& call, std::string_view bytes, std::size_t piece_bytes) {
  do {
    const std::string slice(bytes.substr(0, piece_bytes));
    const std::string field = slice;
    const std::string serialized = data_buffer_prefix(field.size()) + field;
    const Segment sent = owned(serialized);
    call.write({&sent, 1});
    bytes.remove_prefix(slice.size());
  } while (!bytes.empty());
}

void send_pieces_borrowed(Call& call, std::span<const Segment> segments, std::size_t piece_bytes) {
  std::size_t left = 0;
  for (const Segment& segment : segments) left += segment.bytes.size();
  std::size_t index = 0;
  std::size_t position = 0;
  std::vector<Segment> piece;
  while (left > 0) {
    std::size_t room = std::min(left, piece_bytes);
    if (index == 0 && !segments[0].bytes.empty())
      room = std::min(room, segments[0].bytes.size() - position);
    left -= room;
    piece.assign(1, owned(data_buffer_prefix(room)));
    while (room > 0) {
      const Segment& segment = segments[index];
      const std::string_view part = segment.bytes.substr(position, room);
      if (!part.empty()) piece.push_back({part, segment.owner});
      room -= part.size();
      position += part.size();
      if (position == segment.bytes.size()) {
        ++index;
        position = 0;
      }
    }
    call.write(piece);
  }
}

std::optional<CopiedPiece> read_piece_copied(Call& call) {
  const std::optional<Message> received = call.read();
  if (!received) return std::nullopt;
  std::string joined;
  joined.reserve(received->size());
  for (const std::string_view segment : received->segments) joined.append(segment);
  const DataRange range = find_data(joined, joined.size(), call.peer());
  CopiedPiece piece;
  piece.message = joined.substr(range.offset, range.size);
  piece.data = piece.message;
  return piece;
}

void PieceReader::drop_message() {
  message_ = {};
  segment_ = 0;
  position_ = 0;
}

bool PieceReader::next_message() {
  drop_message();
  std::optional<Message> received = call_.read();
  if (!received) return false;
  message_ = std::move(*received);

  std::string start;
  for (const std::string_view segment : message_.segments) {
    start.append(segment.substr(0, kPrefixBytes - start.size()));
    if (start.size() == kPrefixBytes) break;
  }
  std::size_t skip = find_data(start, message_.size(), call_.peer()).offset;
  while (skip > 0) {
    const std::size_t step = std::min(skip, message_.segments[segment_].size() - position_);
    position_ += step;
    skip -= step;
    if (position_ == message_.segments[segment_].size() && skip > 0) {
      ++segment_;
      position_ = 0;
    }
  }
  return true;
}

std::string_view PieceReader::read_some(std::size_t most) {
  for (;;) {
    while (segment_ < message_.segments.size() && position_ == message_.segments[segment_].size()) {
      ++segment_;
      position_ = 0;
    }
    if (segment_ < message_.segments.size()) break;
    if (!next_message()) return {};
  }
  const std::string_view part = message_.segments[segment_].substr(position_, most);
  position_ += part.size();
  return part;
}

void PieceReader::read_exactly(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const std::string_view part = read_some(size - done);
    if (part.empty())
      throw Error(ExitCode::cannot_measure,
                  fmt::format("the stream ended {} bytes early", size - done), call_.peer());
    std::memcpy(to + done, part.data(), part.size());
    done += part.size();
  }
  if (left_of_message() == 0) drop_message();
}

std::size_t PieceReader::left_of_message() const {
  std::size_t left = 0;
  for (std::size_t i = segment_; i < message_.segments.size(); ++i)
    left += message_.segments[i].size();
  return left - position_;
}

std::string PieceReader::read_rest_of_message() {
  std::string rest(read_some(SIZE_MAX));
  for (++segment_, position_ = 0; segment_ < message_.segments.size(); ++segment_)
    rest.append(message_.segments[segment_]);
  drop_message();
  return rest;
}

ModelStream::ModelStream(PieceReader reader, Header header, std::string carry)
    : reader_(std::move(reader)), header_(std::move(header)), carry_(std::move(carry)) {}

void ModelStream::read(char* to, std::size_t size) {
  const std::size_t from_carry = std::min(size, carry_.size() - carried_);
  std::memcpy(to, carry_.data() + carried_, from_carry);
  carried_ += from_carry;
  reader_.read_exactly(to + from_carry, size - from_carry);
  position_ += size;
}

StateTable ModelStream::read_table() {
  std::string bytes(kTablePrefixBytes, '\0');
  read(bytes.data(), bytes.size());
  bytes.resize(table_size(bytes, reader_.peer()));
  read(bytes.data() + kTablePrefixBytes, bytes.size() - kTablePrefixBytes);
  table_ = decode_table(bytes, reader_.peer());
  return table_;
}

void ModelStream::skip_padding() {
  std::array<char, kTableAlignment> padding{};
  const std::size_t gap = table_.tensors[tensor_].offset - position_;
  read(padding.data(), gap);
}

void ModelStream::read_data(char* to, std::size_t size) {
  while (size > 0) {
    const TensorRecord& record = table_.tensors[tensor_];
    if (position_ < record.offset) skip_padding();
    const std::size_t part = std::min(size, record.offset + record.bytes - position_);
    try {
      read(to, part);
    } catch (const PeerGone&) {
      throw;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("tensor {}: {}", record.name, error.what()),
                  error.where());
    }
    to += part;
    size -= part;
    if (position_ == record.offset + record.bytes) ++tensor_;
  }
}

std::size_t ModelStream::data_at_hand() const {
  const TensorRecord& record = table_.tensors[tensor_];
  const std::size_t padding = position_ < record.offset ? record.offset - position_ : 0;
  const std::size_t bytes = carry_.size() - carried_ + reader_.left_of_message();
  return std::min(bytes - std::min(bytes, padding),
                  record.offset + record.bytes - position_ - padding);
}

void ModelStream::expect_end() {
  if (carried_ != carry_.size() || !reader_.read_some(1).empty())
    throw Error(ExitCode::cannot_measure,
                fmt::format("bytes follow the {} bytes of the model state", table_.total_bytes),
                reader_.peer());
}

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
