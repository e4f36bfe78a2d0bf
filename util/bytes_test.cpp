#include "util/bytes.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "util/error.h"
#include "util/file.h"

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

// FIPS 180-4 examples.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfAFileEqualsOfItsBytes) {
  const ScratchDirectory scratch(testing::TempDir(), "sha256");
  const std::filesystem::path path = scratch.path() / "abc";
  write_file_atomically(path, "abc");
  EXPECT_EQ(sha256_hex_of_file(path), kAbc);
  std::filesystem::remove(path);
  EXPECT_THROW(sha256_hex_of_file(path), Error);
}

}  // namespace
}  // namespace memduel
