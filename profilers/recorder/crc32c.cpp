#include <cstring>

#include "profilers/recorder/trace_format.h"

namespace memduel::recorder {

namespace {

struct Table {
  std::uint32_t entry[256];
};

constexpr Table make_table() {
  Table table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
    table.entry[i] = value;
  }
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::uint32_t crc32c(const void* bytes, std::size_t count, std::uint32_t crc) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  crc = ~crc;
  for (std::size_t i = 0; i < count; ++i) crc = (crc >> 8) ^ kTable.entry[(crc ^ at[i]) & 0xff];
  return ~crc;
}

}  // namespace memduel::recorder
