// Whatever decodes must encode to the same meaning.
#include <cstddef>
#include <cstdint>

#include "fl/transport.h"
#include "message_codec.h"
#include "util/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memduel;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string from = "fuzz";
  try {
    const StateTable table = decode_table(bytes, from);
    if (encode_table(table).size() != table.table_bytes) __builtin_trap();
  } catch (const Error&) {
  }
  try {
    const DecodedMessage message = decode_message(bytes, from);
    if (message.payload_offset + message.payload_size != size) __builtin_trap();
  } catch (const Error&) {
  }
  try {
    decode_prefix(bytes, from);
    find_data(bytes, size, from);
  } catch (const Error&) {
  }
  return 0;
}
