#include "compressed_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

TensorRecord record_of(const std::string& name, Dtype dtype, std::int64_t elements) {
  return layout_table({{name, dtype, {elements}}}).tensors.front();
}

template <class Number>
std::string_view bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

/// One tensor as a whole compressed state.
std::string encode(const TensorRecord& record, std::string_view data,
                   std::optional<double> tolerance) {
  std::string bytes = encode_compressed_head(layout_table({record}));
  return bytes.append(compress_tensor(record, data, tolerance).view());
}

template <class Number>
std::vector<Number> decode(std::string_view bytes) {
  const CompressedState state = decode_compressed(bytes, "client-1");
  std::vector<Number> numbers(state.table.tensors.front().bytes / sizeof(Number));
  expand_tensor(state.table.tensors.front(), state.pieces.front(),
                reinterpret_cast<char*>(numbers.data()), "client-1");
  return numbers;
}

template <class Number>
double largest_difference(const std::vector<Number>& a, const std::vector<Number>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

std::vector<float> sine(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::sin(static_cast<float>(i) * 6.2831853F / 1000);
  return values;
}

std::vector<float> normal(std::size_t count, float mean, float deviation) {
  std::mt19937 random(7);
  std::normal_distribution<float> draw(mean, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = draw(random);
  return values;
}

/// What a lossy round trip must keep: the bound, for every value.
void expect_bound(const std::vector<float>& values) {
  const TensorRecord record =
      record_of("fc.weight", Dtype::float32, static_cast<std::int64_t>(values.size()));
  const auto tolerance = lossy_tolerance(record, bytes_of(values));
  ASSERT_TRUE(tolerance);
  const auto [least, most] = std::ranges::minmax_element(values);
  EXPECT_DOUBLE_EQ(*tolerance, 1e-3 * (static_cast<double>(*most) - static_cast<double>(*least)));
  const auto back = decode<float>(encode(record, bytes_of(values), tolerance));
  EXPECT_LE(largest_difference(values, back), *tolerance);
  EXPECT_GT(largest_difference(values, back), 0) << "lossy, and says so";
}

TEST(Zfp, KeepsTheBoundOnSmoothAndRandomValuesAtAnyScale) {
  expect_bound(sine(5000));
  for (const float scale : {1e-20F, 1e-3F, 1.0F, 1e20F}) expect_bound(normal(300'001, 0, scale));
  expect_bound(normal(5000, 1, 1e-2F));
}

TEST(Zfp, KeepsTheBoundOfDoubles) {
  std::vector<double> values;
  for (const float value : normal(5000, 0, 0.1F)) values.push_back(value * 1e-100);
  const TensorRecord record = record_of("weight", Dtype::float64, 5000);
  const auto tolerance = lossy_tolerance(record, bytes_of(values));
  ASSERT_TRUE(tolerance);
  EXPECT_LE(largest_difference(values, decode<double>(encode(record, bytes_of(values), tolerance))),
            *tolerance);
}

// 1e-3 of the range of a sine needs 10 bits of 32 or less: under a third.
TEST(Zfp, SmoothTensorShrinksBelowAThird) {
  const auto values = sine(100'000);
  const TensorRecord record = record_of("weight", Dtype::float32, 100'000);
  const Bytes packed =
      compress_tensor(record, bytes_of(values), lossy_tolerance(record, bytes_of(values)));
  EXPECT_LT(packed.size(), record.bytes / 3);
}

TEST(LossyTolerance, FollowsAppflsRuleForNamesAndSizes) {
  const auto values = sine(1025);
  const auto bytes = bytes_of(values);
  EXPECT_TRUE(lossy_tolerance(record_of("conv.weight", Dtype::float32, 1025), bytes));
  EXPECT_FALSE(lossy_tolerance(record_of("conv.bias", Dtype::float32, 1025), bytes));
  EXPECT_FALSE(lossy_tolerance(record_of("conv.weight", Dtype::float32, 1024), bytes.substr(4)))
      << "param_cutoff itself is lossless";
  EXPECT_FALSE(lossy_tolerance(record_of("weight", Dtype::int32, 1025), bytes));
}

TEST(LossyTolerance, IsAbsentWhereTheBoundMeansNothing) {
  const TensorRecord record = record_of("weight", Dtype::float32, 2000);
  const auto tolerance_of = [&](const std::vector<float>& values) {
    return lossy_tolerance(record, bytes_of(values));
  };
  std::vector<float> values = sine(2000);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    values[1234] = bad;
    EXPECT_FALSE(tolerance_of(values)) << bad;
  }
  EXPECT_FALSE(tolerance_of(std::vector<float>(2000, 3.5F))) << "no range";
  EXPECT_FALSE(tolerance_of(normal(2000, 1e6F, 1))) << "0.006 is below the spacing of floats there";
  EXPECT_FALSE(tolerance_of(normal(2000, 0, 1e-37F))) << "next to subnormal numbers";
  EXPECT_FALSE(tolerance_of(normal(2000, 0, 1e38F))) << "next to infinity";
}

template <class Number>
void expect_exact(Dtype dtype, const std::vector<Number>& values) {
  const TensorRecord record = record_of("t", dtype, static_cast<std::int64_t>(values.size()));
  const auto back = decode<Number>(encode(record, bytes_of(values), std::nullopt));
  EXPECT_EQ(bytes_of(back), bytes_of(values));
}

TEST(Blosc, GivesBackEveryBitOfEveryType) {
  auto values = normal(300'001, 0, 1);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[6] = -0.0F;
  values[7] = std::numeric_limits<float>::denorm_min();
  values[8] = std::numeric_limits<float>::infinity();
  expect_exact(Dtype::float32, values);
  expect_exact<double>(Dtype::float64, {1.0 / 3, -0.0, 1e308});
  expect_exact<std::int32_t>(Dtype::int32, {0, -1, 2147483647});
  expect_exact<std::int64_t>(Dtype::int64, {std::numeric_limits<std::int64_t>::min()});
  expect_exact<float>(Dtype::float32, {});
}

TEST(Blosc, ZerosShrinkAHundredfoldAndNeverBeyondWhatTheReaderTakes) {
  const std::vector<float> zeros(4'000'000, 0);
  const TensorRecord record = record_of("t", Dtype::float32, 4'000'000);
  const std::string bytes = encode(record, bytes_of(zeros), std::nullopt);
  EXPECT_LT(bytes.size(), record.bytes / 100);
  EXPECT_EQ(decode<float>(bytes), zeros);
}

std::string refusal(std::string_view bytes) {
  try {
    decode<float>(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_measure);
    EXPECT_EQ(error.where(), "client-1");
    return error.what();
  }
  return "accepted";
}

struct Sample {
  TensorRecord record = record_of("weight", Dtype::float32, 5000);
  std::vector<float> values = sine(5000);
  std::string blosc = encode(record, bytes_of(values), std::nullopt);
  std::string zfp = encode(record, bytes_of(values), 1e-3);
  std::size_t data = encode_compressed_head(layout_table({record})).size();
};

TEST(DecodeCompressed, TruncationAnywhereIsRefused) {
  const Sample sample;
  for (const std::string& whole : {sample.blosc, sample.zfp})
    for (std::size_t size = 0; size < whole.size(); ++size)
      ASSERT_NE(refusal(whole.substr(0, size)), "accepted") << size;
}

TEST(DecodeCompressed, FaultsNameTheTensorAndWhatIsWrong) {
  const Sample sample;
  EXPECT_THAT(refusal("MDST"), HasSubstr("do not begin with \"MDCS\""));
  EXPECT_THAT(refusal(sample.blosc + "x"), HasSubstr("1 bytes follow"));
  std::string bytes = sample.blosc;
  bytes[sample.data] = 9;
  EXPECT_THAT(refusal(bytes), HasSubstr("tensor weight: unknown codec 9"));
  bytes = sample.blosc;
  bytes[sample.data + 1 + 4 + 4] ^= 1;  // blosc's own count of bytes
  EXPECT_THAT(refusal(bytes), HasSubstr("is no blosc buffer of 20000"));
  bytes = sample.zfp;
  std::memset(bytes.data() + sample.data + 5, 0xff, 8);  // the tolerance is not a number
  EXPECT_THAT(refusal(bytes), HasSubstr("a tolerance of"));
}

TEST(DecodeCompressed, ClaimsBeyondAThousandfoldAreRefusedBeforeAnythingIsAllocated) {
  const StateTable table = layout_table({{"weight", Dtype::float32, {std::int64_t{1} << 40}}});
  EXPECT_THAT(refusal(encode_compressed_head(table)), HasSubstr("claim to be a state of"));
}

TEST(DecodeCompressed, ZfpOfAnyBytesStaysInItsBuffers) {
  const Sample sample;
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::string bytes = sample.zfp;
    for (std::size_t at = sample.data + 13; at < bytes.size(); ++at)
      bytes[at] = static_cast<char>(random());
    EXPECT_EQ(decode<float>(bytes).size(), 5000U);
  }
}

}  // namespace
}  // namespace memduel
