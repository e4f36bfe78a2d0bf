#include "workloads/optimizations/model_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"

namespace memduel {

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

}  // namespace memduel
