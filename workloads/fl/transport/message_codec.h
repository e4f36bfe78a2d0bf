// The messages of APPFL's gRPC service in protobuf's wire format: header, payload and metadata.
//
// Request   { ClientHeader header = 1 { string client_id = 1 }; bytes payload = 2; string meta_data
// = 3 } Response  { ServerHeader header = 1 { Status status = 1 };    bytes payload = 2; string
// meta_data = 3 } DataBuffer{ bytes data_bytes = 1 }
//
// All four RPCs have these shapes: the payload is the configuration, the model or the action's
// name. It is written last, which protobuf allows, so that a receiver knows everything about a
// model before its first byte. Written here instead of generated, because the optimizations differ
// in exactly the copies that a generated class makes, and because builds without gRPC speak the
// same messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

/// APPFL's ServerHeader.Status, and one more: the upload was lost with another client's and is
/// wanted again.
enum class Status : std::uint8_t { run = 0, done = 1, error = 2, again = 3 };

/// A message without its payload. A request carries client_id, a response status.
struct Header {
  std::string client_id;
  Status status = Status::run;
  std::string metadata;  ///< JSON, which is YAML too
};

/// Where the payload lies within an encoded message: it is the message's end.
struct DecodedMessage {
  Header header;
  std::size_t payload_offset = 0;
  std::size_t payload_size = 0;
};

/// Everything that stands before a payload of `payload_size` bytes.
std::string encode_prefix(const Header& header, std::size_t payload_size);

/// The whole message in one buffer.
std::string encode_message(const Header& header, std::string_view payload);

/// Reads a message that has a payload up to where that begins; absent when `bytes` end before
/// that. `from` names the sender in messages. Throws Error(cannot_measure) on malformed bytes.
std::optional<DecodedMessage> decode_prefix(std::string_view bytes, const std::string& from);

/// Reads one whole message. Throws like decode_prefix, also when `bytes` are cut short.
DecodedMessage decode_message(std::string_view bytes, const std::string& from);

/// The bytes that stand before a DataBuffer's data.
std::string data_buffer_prefix(std::size_t data_size);

/// The data within an encoded DataBuffer: its offset and size. `bytes` needs to hold only the
/// first 16 bytes of a message of `total` bytes. Throws like decode_message.
struct DataRange {
  std::size_t offset = 0;
  std::size_t size = 0;
};
DataRange find_data(std::string_view bytes, std::size_t total, const std::string& from);

}  // namespace memduel
