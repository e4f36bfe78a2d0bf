#include "cifar10.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

std::string record(char label, char pixel) {
  return std::string(1, label) + std::string(3072, pixel);
}

TEST(ParseCifar10, ReadsLabelsAndPlanes) {
  const ImageSet set = parse_cifar10(record(3, 'a') + record(9, 'b'), "batch");
  EXPECT_EQ(set.count(), 2U);
  EXPECT_EQ(set.channels, 3U);
  EXPECT_EQ(set.labels[1], 9);
  EXPECT_EQ(set.pixels[3071], 'a');
  EXPECT_EQ(set.pixels[3072], 'b');
}

TEST(ParseCifar10, TruncatedRecordNamesOffsetFoundAndExpected) {
  try {
    parse_cifar10(record(1, 'a') + "xyz", "batch.bin");
    FAIL() << "a truncated record was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), ::testing::AllOf(::testing::HasSubstr("batch.bin"),
                                                  ::testing::HasSubstr("byte 3073"),
                                                  ::testing::HasSubstr("found 3076")));
  }
}

TEST(ParseCifar10, LabelAboveNineIsRefused) {
  EXPECT_THROW(parse_cifar10(record(10, 'a'), "batch"), Error);
}

TEST(ParseCifar10, EmptyFileIsRefused) {
  EXPECT_THROW(parse_cifar10("", "batch"), Error);
}

}  // namespace
}  // namespace memduel
