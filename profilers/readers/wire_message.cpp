#include "wire_message.h"

#include "util/bytes.h"

namespace memduel {

namespace {

constexpr const char* kNoField = "no field of a message";

enum WireType : unsigned { varint_type = 0, fixed64_type = 1, bytes_type = 2, fixed32_type = 5 };

}  // namespace

std::uint64_t WireMessage::varint() {
  const auto value = read_varint([this] {
    if (rest_.empty()) fail("ends inside a number");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  });
  if (!value) fail(kTooLongNumber);
  return *value;
}

std::string_view WireMessage::take(std::uint64_t size) {
  if (size > rest_.size()) fail("ends inside a field");
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

std::optional<WireField> WireMessage::next() {
  if (rest_.empty()) return std::nullopt;
  const std::uint64_t tag = varint();
  constexpr std::uint64_t kMostFields = 1U << 29;
  if (tag >> 3 == 0 || tag >> 3 >= kMostFields) fail(kNoField);
  WireField field;
  field.number = static_cast<unsigned>(tag >> 3);
  switch (tag & 7) {
    case varint_type:
      field.is_number = true;
      field.value = varint();
      return field;
    case bytes_type:
      field.bytes = take(varint());
      return field;
    case fixed64_type:
      take(8);
      return field;
    case fixed32_type:
      take(4);
      return field;
    default:
      fail(kNoField);
  }
}

void WireMessage::numbers(const WireField& field, std::vector<std::uint64_t>& numbers) const {
  if (field.is_number) {
    numbers.push_back(field.value);
    return;
  }
  WireMessage packed = inside(field);
  while (!packed.rest_.empty()) numbers.push_back(packed.varint());
}

void WireMessage::fail(const char* problem) const {
  source_.fail(problem, static_cast<std::uint64_t>(rest_.data() - document_.data()));
}

}  // namespace memduel
