#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fl/transport.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TensorRecord record(const std::string& name, std::vector<std::int64_t> shape,
                    Dtype dtype = Dtype::float32) {
  TensorRecord made;
  made.name = name;
  made.dtype = dtype;
  made.shape = std::move(shape);
  return made;
}

StateTable example() {
  return layout_table({record("conv.weight", {2, 3}), record("bn.count", {}, Dtype::int64),
                       record("empty", {0, 4}), record("fc.bias", {17}, Dtype::float64)});
}

std::string refusal(const std::string& bytes) {
  try {
    decode_table(bytes, "client-2");
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

/// `bytes` with the little-endian number at `offset` replaced.
std::string with_number(std::string bytes, std::size_t offset, std::size_t size,
                        std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) bytes[offset + i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

TEST(StateTable, DataBeginsAtMultiplesOf64) {
  const StateTable table = example();
  EXPECT_EQ(table.table_bytes % 64, 0U);
  EXPECT_EQ(table.tensors[0].offset, table.table_bytes);
  EXPECT_EQ(table.tensors[0].bytes, 24U);
  EXPECT_EQ(table.tensors[1].offset, table.table_bytes + 64);
  EXPECT_EQ(table.tensors[1].bytes, 8U);
  EXPECT_EQ(table.tensors[2].bytes, 0U);
  EXPECT_EQ(table.tensors[3].offset, table.table_bytes + 128);
  EXPECT_EQ(table.total_bytes, table.table_bytes + 128 + 17 * 8);
}

TEST(StateTable, RoundTrips) {
  const StateTable table = example();
  const std::string bytes = encode_table(table);
  EXPECT_EQ(bytes.size(), table.table_bytes);
  const StateTable decoded = decode_table(bytes, "x");
  EXPECT_EQ(decoded.total_bytes, table.total_bytes);
  ASSERT_EQ(decoded.tensors.size(), table.tensors.size());
  for (std::size_t i = 0; i < table.tensors.size(); ++i) {
    EXPECT_EQ(decoded.tensors[i].name, table.tensors[i].name);
    EXPECT_EQ(decoded.tensors[i].dtype, table.tensors[i].dtype);
    EXPECT_EQ(decoded.tensors[i].shape, table.tensors[i].shape);
    EXPECT_EQ(decoded.tensors[i].offset, table.tensors[i].offset);
  }
}

TEST(StateTable, EveryTruncationIsRefused) {
  const std::string bytes = encode_table(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(refusal(bytes.substr(0, size)), "accepted") << size;
}

TEST(StateTable, CorruptFieldsAreRefusedByName) {
  const std::string bytes = encode_table(example());
  EXPECT_THAT(refusal(with_number(bytes, 0, 1, 'X')),
              AllOf(HasSubstr("client-2"), HasSubstr("magic")));
  EXPECT_THAT(refusal(with_number(bytes, 4, 4, 2)), HasSubstr("expected version 1, found 2"));
  EXPECT_THAT(refusal(with_number(bytes, 8, 8, 1 << 30)), HasSubstr("not possible"));
  EXPECT_THAT(refusal(with_number(bytes, 16, 8, 5)), HasSubstr("the shapes give"));
  EXPECT_THAT(refusal(with_number(bytes, 24, 4, 900)), HasSubstr("malformed"));
  // The first record: 2 bytes of length, "conv.weight", dtype, dimensions, two numbers.
  EXPECT_THAT(refusal(with_number(bytes, 28 + 2 + 11, 1, 9)), HasSubstr("unknown dtype 9"));
  EXPECT_THAT(refusal(with_number(bytes, 28 + 2 + 11 + 1, 1, 200)), HasSubstr("200 dimensions"));
  EXPECT_THAT(refusal(with_number(bytes, 28 + 2 + 11 + 2, 8, UINT64_MAX)),
              HasSubstr("negative dimension"));
  EXPECT_THAT(refusal(with_number(bytes, 28 + 2 + 11 + 2, 8, INT64_MAX)), HasSubstr("too large"));
}

TEST(StateTable, TwoTensorsOfOneNameAreRefused) {
  const std::string bytes = encode_table(layout_table({record("a", {1}), record("a", {1})}));
  EXPECT_THAT(refusal(bytes), HasSubstr("two tensors are named a"));
}

TEST(ExpectSameTensors, NamesTheTensorThatIsMissingExtraOrDifferent) {
  const StateTable expected = layout_table({record("a", {2}), record("b", {3})});
  const auto complaint = [&](std::vector<TensorRecord> found) -> std::string {
    try {
      expect_same_tensors(layout_table(std::move(found)), expected, "client-1");
    } catch (const Error& error) {
      return error.message();
    }
    return "accepted";
  };
  EXPECT_EQ(complaint({record("b", {3}), record("a", {2})}), "accepted");
  EXPECT_THAT(complaint({record("a", {2})}), HasSubstr("tensor b is missing"));
  EXPECT_THAT(complaint({record("a", {2}), record("b", {3}), record("c", {1})}),
              HasSubstr("tensor c is not part of the model"));
  EXPECT_THAT(
      complaint({record("a", {2}), record("b", {4})}),
      AllOf(HasSubstr("client-1"), HasSubstr("tensor b: expected float32 [3], found float32 [4]")));
}

}  // namespace
}  // namespace memduel
