#include "idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>

#include "gzip.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string u32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
  return bytes;
}

/// Two images of 2 × 3 pixels.
std::string two_images() {
  return u32(0x803) + u32(2) + u32(2) + u32(3) + std::string("abcdefghijkl");
}
std::string two_labels() {
  return u32(0x801) + u32(2) + std::string("\x07\x03", 2);
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string refusal(const std::string& images, const std::string& labels) {
  try {
    parse_idx(images, labels, "images.idx", "labels.idx");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    return error.message();
  }
  return "accepted";
}

TEST(ParseIdx, ReadsCountsPixelsAndLabels) {
  const ImageSet set = parse_idx(two_images(), two_labels(), "i", "l");
  EXPECT_EQ(set.channels, 1U);
  EXPECT_EQ(set.height, 2U);
  EXPECT_EQ(set.width, 3U);
  EXPECT_EQ(set.count(), 2U);
  EXPECT_EQ(std::string(set.pixels.begin(), set.pixels.end()), "abcdefghijkl");
  EXPECT_THAT(set.labels, ElementsAre(7, 3));
}

TEST(ParseIdx, WrongMagicNamesFileOffsetFoundAndExpected) {
  EXPECT_THAT(refusal(two_labels() + std::string(20, 'x'), two_labels()),
              AllOf(HasSubstr("images.idx"), HasSubstr("byte 0"), HasSubstr("0x00000801"),
                    HasSubstr("0x00000803")));
}

TEST(ParseIdx, TruncatedImagesNameBothSizes) {
  const std::string whole = two_images();
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 1), two_labels()),
              AllOf(HasSubstr("images.idx"),
                    HasSubstr("expected 28 bytes according to the header, found 27")));
}

TEST(ParseIdx, TruncatedHeaderIsRefused) {
  EXPECT_THAT(refusal(two_images().substr(0, 15), two_labels()), HasSubstr("within its header"));
  EXPECT_THAT(refusal(two_images(), two_labels().substr(0, 7)),
              AllOf(HasSubstr("labels.idx"), HasSubstr("within its header")));
}

TEST(ParseIdx, BytesAfterTheLastImageAreRefused) {
  EXPECT_THAT(refusal(two_images() + "x", two_labels()),
              HasSubstr("expected 28 bytes according to the header, found 29"));
}

TEST(ParseIdx, CountsThatDifferAreRefused) {
  EXPECT_THAT(refusal(two_images(), u32(0x801) + u32(3) + "abc"),
              AllOf(HasSubstr("labels.idx"), HasSubstr("expected 2 labels")));
}

TEST(ParseIdx, AbsurdImageSizeIsRefusedBeforeItIsMultiplied) {
  const std::string bytes = u32(0x803) + u32(0xffffffff) + u32(0xffffffff) + u32(0xffffffff);
  EXPECT_THAT(refusal(bytes, two_labels()),
              HasSubstr("expected images of 1 to 4096 pixels per side"));
}

TEST(ReadIdx, ReadsGzipAndPlainAlike) {
  const ScratchDirectory scratch(::testing::TempDir(), "idx");
  const std::filesystem::path& dir = scratch.path();
  write_file_atomically(dir / "images.gz", gzipped(two_images()));
  write_file_atomically(dir / "labels", two_labels());
  EXPECT_EQ(read_idx(dir / "images.gz", dir / "labels").pixels,
            parse_idx(two_images(), two_labels(), "i", "l").pixels);
}

TEST(Gunzip, TruncatedMemberIsRefusedByName) {
  const std::string whole = gzipped(two_images());
  try {
    gunzip(std::string_view(whole).substr(0, whole.size() - 9), "x.gz", 1000);
    FAIL() << "a truncated member was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("x.gz"), HasSubstr("truncated")));
  }
}

TEST(Gunzip, GrowthBeyondTheLimitIsRefused) {
  EXPECT_THROW(gunzip(gzipped(std::string(100000, 'a')), "x.gz", 1000), Error);
}

// The files in the repository: 10,000 images of 28 × 28, first label 7 (the published set).
TEST(ReadIdx, ReadsTheCommittedTestSet) {
  const std::filesystem::path dir = std::filesystem::path(MEMDUEL_DATASETS) / "mnist";
  const ImageSet set =
      read_idx(dir / "t10k-images-idx3-ubyte.gz", dir / "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(set.count(), 10000U);
  EXPECT_EQ(set.image_bytes(), 784U);
  EXPECT_EQ(set.labels.front(), 7);
}

TEST(ParseIdx, ALabelOfNoClassNamesItsByte) {
  const std::string labels = u32(0x801) + u32(2) + std::string("\x07\xff", 2);
  EXPECT_THAT(refusal(two_images(), labels),
              AllOf(HasSubstr("labels.idx"), HasSubstr("byte 9"),
                    HasSubstr("expected a label from 0 to 9, found 255")));
}

}  // namespace
}  // namespace memduel
