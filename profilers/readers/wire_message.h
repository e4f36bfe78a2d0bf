// The fields of a protobuf message, one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "readers/plain_source.h"

namespace memduel {

struct WireField {
  unsigned number = 0;
  bool is_number = false;  ///< else bytes
  std::uint64_t value = 0;
  std::string_view bytes;
};

class WireMessage {
 public:
  /// `document` is all of PlainSource::rest(), `message` a part of it.
  WireMessage(const PlainSource& source, std::string_view document, std::string_view message)
      : source_(source), document_(document), rest_(message) {}

  /// The message inside a field of this one.
  [[nodiscard]] WireMessage inside(const WireField& field) const {
    return {source_, document_, field.bytes};
  }

  /// Nothing at the end. Throws Error(io) with the offset of what is no field.
  std::optional<WireField> next();

  /// The numbers of a repeated field, packed or not, added to `numbers`.
  void numbers(const WireField& field, std::vector<std::uint64_t>& numbers) const;

  [[noreturn]] void fail(const char* problem) const;

 private:
  std::uint64_t varint();
  std::string_view take(std::uint64_t size);

  const PlainSource& source_;
  std::string_view document_;
  std::string_view rest_;
};

}  // namespace memduel
