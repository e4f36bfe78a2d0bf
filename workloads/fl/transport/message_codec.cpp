#include "message_codec.h"

#include <fmt/format.h>

#include "util/bytes.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr std::uint8_t kVarint = 0;
constexpr std::uint8_t kLengthDelimited = 2;

void put_tag(std::string& out, std::uint32_t field, std::uint8_t type) {
  put_varint(out, field << 3 | type);
}

void put_bytes_field(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_tag(out, field, kLengthDelimited);
  put_varint(out, bytes.size());
  out.append(bytes);
}

/// The bytes ended before the message did.
struct Incomplete {};

/// Reads fields in order; every read is checked against the end.
class FieldReader {
 public:
  FieldReader(std::string_view bytes, const std::string& from) : bytes_(bytes), from_(from) {}

  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }

  std::uint64_t varint() {
    const auto value = read_varint([this] {
      if (at_end()) throw Incomplete{};
      return static_cast<unsigned char>(bytes_[position_++]);
    });
    if (!value) fail("a number has more than ten bytes");
    return *value;
  }

  std::string_view bytes(std::uint64_t size) {
    if (size > bytes_.size() - position_) throw Incomplete{};
    const std::string_view field = bytes_.substr(position_, size);
    position_ += size;
    return field;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::cannot_measure,
                fmt::format("malformed message at byte {}: {}", position_, what), from_);
  }

 private:
  std::string_view bytes_;
  const std::string& from_;
  std::size_t position_ = 0;
};

void decode_header_field(std::string_view bytes, const std::string& from, Header& header) {
  FieldReader reader(bytes, from);
  while (!reader.at_end()) {
    const std::uint64_t tag = reader.varint();
    if (tag == (1 << 3 | kLengthDelimited)) {
      header.client_id = reader.bytes(reader.varint());
    } else if (tag == (1 << 3 | kVarint)) {
      const std::uint64_t status = reader.varint();
      if (status > static_cast<std::uint64_t>(Status::again))
        reader.fail(fmt::format("unknown status {}", status));
      header.status = static_cast<Status>(status);
    } else {
      reader.fail(fmt::format("unknown header field {}", tag >> 3));
    }
  }
}

std::string encode_header_field(const Header& header) {
  std::string inner;
  if (!header.client_id.empty()) put_bytes_field(inner, 1, header.client_id);
  if (header.status != Status::run) {
    put_tag(inner, 1, kVarint);
    put_varint(inner, static_cast<std::uint64_t>(header.status));
  }
  return inner;
}

/// Reads fields up to the payload, or to the end of the bytes when there is none.
DecodedMessage decode_fields(FieldReader& reader, const std::string& from) {
  DecodedMessage message;
  while (!reader.at_end()) {
    const std::uint64_t tag = reader.varint();
    if ((tag & 7) != kLengthDelimited)
      reader.fail(fmt::format("field {} has wire type {}, expected {}", tag >> 3, tag & 7,
                              kLengthDelimited));
    const std::uint64_t size = reader.varint();
    switch (tag >> 3) {
      case 1:
        decode_header_field(reader.bytes(size), from, message.header);
        break;
      case 2:
        message.payload_offset = reader.position();
        message.payload_size = size;
        return message;
      case 3:
        message.header.metadata = reader.bytes(size);
        break;
      default:
        reader.fail(fmt::format("unknown field {}", tag >> 3));
    }
  }
  message.payload_offset = reader.position();
  return message;
}

}  // namespace

std::string encode_prefix(const Header& header, std::size_t payload_size) {
  std::string prefix;
  put_bytes_field(prefix, 1, encode_header_field(header));
  if (!header.metadata.empty()) put_bytes_field(prefix, 3, header.metadata);
  if (payload_size > 0) {
    put_tag(prefix, 2, kLengthDelimited);
    put_varint(prefix, payload_size);
  }
  return prefix;
}

std::string encode_message(const Header& header, std::string_view payload) {
  return encode_prefix(header, payload.size()).append(payload);
}

std::optional<DecodedMessage> decode_prefix(std::string_view bytes, const std::string& from) {
  FieldReader reader(bytes, from);
  try {
    DecodedMessage message = decode_fields(reader, from);
    if (message.payload_size == 0) return std::nullopt;
    return message;
  } catch (const Incomplete&) {
    return std::nullopt;
  }
}

DecodedMessage decode_message(std::string_view bytes, const std::string& from) {
  FieldReader reader(bytes, from);
  try {
    DecodedMessage message = decode_fields(reader, from);
    if (message.payload_size != bytes.size() - message.payload_offset)
      reader.fail(fmt::format("the payload claims {} bytes, {} are left", message.payload_size,
                              bytes.size() - message.payload_offset));
    return message;
  } catch (const Incomplete&) {
    reader.fail("the message ends within a field");
  }
}

std::string data_buffer_prefix(std::size_t data_size) {
  std::string prefix;
  put_tag(prefix, 1, kLengthDelimited);
  put_varint(prefix, data_size);
  return prefix;
}

DataRange find_data(std::string_view bytes, std::size_t total, const std::string& from) {
  if (total == 0) return {};
  FieldReader reader(bytes, from);
  try {
    const std::uint64_t tag = reader.varint();
    if (tag != (1 << 3 | kLengthDelimited))
      reader.fail(fmt::format("expected the field tag of data_bytes, found {}", tag));
    const std::uint64_t size = reader.varint();
    if (size != total - reader.position())
      reader.fail(fmt::format("data_bytes claims {} bytes, the message holds {}", size,
                              total - reader.position()));
    return {reader.position(), static_cast<std::size_t>(size)};
  } catch (const Incomplete&) {
    reader.fail("the message ends within its length");
  }
}

}  // namespace memduel
