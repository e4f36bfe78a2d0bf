#include "base/varint.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace memduel {
namespace {

std::optional<std::uint64_t> read(const std::string& bytes) {
  std::size_t at = 0;
  return read_varint([&] {
    if (at == bytes.size()) throw std::out_of_range("ends");
    return static_cast<unsigned char>(bytes[at++]);
  });
}

std::string bytes_of(std::uint64_t value) {
  std::string bytes;
  put_varint(bytes, value);
  return bytes;
}

// 624485 is the example of DWARF's specification, 300 that of Protocol Buffers'.
TEST(Varint, HasThePublishedBytes) {
  EXPECT_EQ(bytes_of(624485), "\xe5\x8e\x26");
  EXPECT_EQ(bytes_of(300), "\xac\x02");
  EXPECT_EQ(bytes_of(0), std::string(1, '\0'));
  EXPECT_EQ(read("\xe5\x8e\x26"), 624485U);
}

TEST(Varint, ComesBackAtEveryLength) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t value : {std::uint64_t{1} << bits, (std::uint64_t{1} << bits) - 1})
      EXPECT_EQ(read(bytes_of(value)), value);
  }
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(bytes_of(most).size(), 10U);
  EXPECT_EQ(read(bytes_of(most)), most);
}

TEST(Varint, ElevenBytesAreNoNumber) {
  EXPECT_EQ(read(std::string(10, '\x80') + '\x01'), std::nullopt);
  EXPECT_THROW(read("\x80"), std::out_of_range);
}

// The table of Protocol Buffers' encoding.
TEST(Zigzag, KeepsSmallNumbersSmall) {
  EXPECT_EQ(zigzag(0), 0U);
  EXPECT_EQ(zigzag(-1), 1U);
  EXPECT_EQ(zigzag(1), 2U);
  EXPECT_EQ(zigzag(-2), 3U);
  EXPECT_EQ(zigzag(2147483647), 4294967294U);
  EXPECT_EQ(zigzag(-2147483648), 4294967295U);
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-5},
                                   std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(unzigzag(zigzag(value)), value);
}

}  // namespace
}  // namespace memduel
