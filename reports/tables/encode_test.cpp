#include "reports/tables/encode.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace memduel {
namespace {

std::string gunzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, ComesBackUnchanged) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += static_cast<char>(i * i % 251);
  EXPECT_EQ(gunzip(gzip(text)), text);
  EXPECT_EQ(gunzip(gzip("")), "");
}

TEST(Gzip, GivesEqualBytesForEqualInput) {
  EXPECT_EQ(gzip("memory"), gzip("memory"));
}

// RFC 4648, section 10.
TEST(Base64, MatchesTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

// FIPS 180-4's "abc", as `printf abc | openssl dgst -sha256 -binary | base64` prints it.
TEST(Sha256, GivesRawBytesForAContentPolicy) {
  EXPECT_EQ(base64(sha256("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

}  // namespace
}  // namespace memduel
