#include "series_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <limits>
#include <random>

#include "support/small_experiment.h"

namespace memduel {
namespace {

std::string frame(const std::string& content) {
  std::string blob(ZSTD_compressBound(content.size()), '\0');
  blob.resize(ZSTD_compress(blob.data(), blob.size(), content.data(), content.size(), 3));
  return blob;
}

std::string fault_of(const std::string& blob) {
  const Error error = error_of([&] { decode_series(blob); });
  EXPECT_EQ(error.code(), ExitCode::io);
  return error.what();
}

TEST(SeriesCodec, AnyNumbersComeBack) {
  std::mt19937_64 engine(1);
  for (std::size_t count : {0, 1, 2, 1000}) {
    Series series;
    for (std::size_t i = 0; i < count; ++i) {
      series.t_ns.push_back(static_cast<std::int64_t>(engine()));
      series.values.push_back(static_cast<std::int64_t>(engine()));
    }
    const Series back = decode_series(encode_series(series));
    EXPECT_EQ(back.t_ns, series.t_ns);
    EXPECT_EQ(back.values, series.values);
  }
}

TEST(SeriesCodec, TheExtremesComeBack) {
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  const Series series{"m", {kLow, kHigh, 0, -1}, {kHigh, kLow, -1, 0}};
  const Series back = decode_series(encode_series(series));
  EXPECT_EQ(back.t_ns, series.t_ns);
  EXPECT_EQ(back.values, series.values);
}

// The layout in the header, by hand: two samples at 10 and 13 with the values 5 and 4 are
// 2 | zigzag 10, 3 | zigzag 5, -1.
TEST(SeriesCodec, TheBytesAreThoseOfTheFormat) {
  const Series series = decode_series(frame({2, 20, 6, 10, 1}));
  EXPECT_THAT(series.t_ns, testing::ElementsAre(10, 13));
  EXPECT_THAT(series.values, testing::ElementsAre(5, 4));
  EXPECT_EQ(encode_series(series), frame({2, 20, 6, 10, 1}));
}

TEST(SeriesCodec, ASteadySeriesTakesFewBytesPerSample) {
  Series series;
  for (int i = 0; i < 10000; ++i) {
    series.t_ns.push_back(1000000000 + i * 2000000LL);
    series.values.push_back(200000000 + (i % 3) * 4096);
  }
  EXPECT_LT(encode_series(series).size(), 10000U);
}

TEST(SeriesCodec, DamagedBlobsAreRefused) {
  EXPECT_EQ(fault_of(""),
            "a series in the run store is damaged: it is not a zstd frame of known size");
  EXPECT_EQ(fault_of("garbage"),
            "a series in the run store is damaged: it is not a zstd frame of known size");
  EXPECT_EQ(fault_of(frame({})), "a series in the run store is damaged: it ends at byte 0");
  EXPECT_EQ(fault_of(frame({2, 20, 6, 10, '\x80'})),
            "a series in the run store is damaged: it ends at byte 5");
  EXPECT_EQ(fault_of(frame({100, 1, 1})),
            "a series in the run store is damaged: 100 samples in 2 bytes");
  EXPECT_EQ(fault_of(frame({1, 1, 1, 7})),
            "a series in the run store is damaged: 1 bytes are left over");
  EXPECT_EQ(fault_of(frame(std::string(11, '\xff'))),
            "a series in the run store is damaged: a number before byte 10 is too long");
  const std::string whole = encode_series({"m", {1, 2, 3}, {4, 5, 6}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(decode_series(whole.substr(0, size)), Error) << size;
  }
}

}  // namespace
}  // namespace memduel
