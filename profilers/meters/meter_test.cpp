#include "meters/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace memduel {
namespace {

using testing::ElementsAre;

TEST(ThinnedSeries, KeepsEverySampleUnlessItIsBounded) {
  ThinnedSeries series("rss_bytes");
  EXPECT_TRUE(series.empty());
  for (int at = 0; at < 100'000; ++at) series.add(at, at % 7);
  EXPECT_EQ(series.series().values.size(), 100'000U);
  EXPECT_EQ(series.last(), 99'999 % 7);
}

TEST(ThinnedSeries, KeepsTheSmallestAndTheLargestOfEachStretch) {
  ThinnedSeries series("rss_bytes", 16);
  const std::vector<std::int64_t> values = {5, 9, 1, 5, 3, 3, 3, 3, 1, 2, 3, 4, 4, 3, 2, 1};
  for (std::size_t at = 0; at < values.size(); ++at)
    series.add(static_cast<std::int64_t>(at), values[at]);
  const Series kept = series.series();
  EXPECT_EQ(kept.metric, "rss_bytes");
  EXPECT_THAT(kept.t_ns, ElementsAre(1, 2, 4, 7, 8, 11, 12, 15));
  EXPECT_THAT(kept.values, ElementsAre(9, 1, 3, 3, 1, 4, 4, 1));
}

TEST(ThinnedSeries, EndsWithTheLastSampleWhileAStretchIsNotFull) {
  ThinnedSeries series("rss_bytes", 16);
  for (std::int64_t at = 0; at < 16; ++at) series.add(at, 100);
  for (std::int64_t at = 16; at < 19; ++at) series.add(at, at == 17 ? 200 : 100);
  const Series kept = series.series();
  EXPECT_EQ(kept.t_ns.back(), 18);
  EXPECT_EQ(kept.values.back(), 100);
  EXPECT_THAT(kept.t_ns, testing::IsSupersetOf({16, 17, 18}));
}

TEST(ThinnedSeries, StaysBoundedInOrderAndEvenAndLosesNoPeak) {
  constexpr std::int64_t kSamples = 3'000'000;
  constexpr std::size_t kPoints = 1024;
  ThinnedSeries series("rss_bytes", kPoints);
  std::size_t most = 0;
  for (std::int64_t at = 0; at < kSamples; ++at) {
    series.add(at, at == 1'234'567 ? 1'000'000'000 : at == 2'222'222 ? -5 : at);
    if (at % 10'007 == 0) most = std::max(most, series.series().values.size());
  }
  const Series kept = series.series();
  EXPECT_LE(most, kPoints + 3);
  EXPECT_GE(kept.values.size(), kPoints / 2);
  EXPECT_TRUE(std::ranges::is_sorted(kept.t_ns));
  EXPECT_EQ(*std::ranges::max_element(kept.values), 1'000'000'000);
  EXPECT_EQ(*std::ranges::min_element(kept.values), -5);
  EXPECT_EQ(kept.t_ns.front(), 0);
  EXPECT_EQ(kept.t_ns.back(), kSamples - 1);
  std::int64_t widest = 0;
  for (std::size_t at = 1; at < kept.t_ns.size(); ++at)
    widest = std::max(widest, kept.t_ns[at] - kept.t_ns[at - 1]);
  // 512 points or more for 3,000,000 samples: two for every 11,720, and no gap of two stretches.
  EXPECT_LE(widest, 2 * 2 * kSamples / (kPoints / 2));
}

TEST(SampledSums, AddUpWhatRuns) {
  SampledSums sums("rss_bytes");
  for (const char* role : {"server", "never", "client"}) sums.add_role(role);
  EXPECT_TRUE(sums.add(1, {1'000'000, std::nullopt, std::nullopt})) << "the first sample";
  EXPECT_TRUE(sums.add(2, {1'000'000, std::nullopt, 500'000})) << "another role begins";
  EXPECT_FALSE(sums.add(3, {1'000'000 + 65'535, std::nullopt, 500'000}));
  EXPECT_TRUE(sums.add(4, {std::nullopt, std::nullopt, 500'000 - 65'536}));
  EXPECT_FALSE(sums.add(5, {std::nullopt, std::nullopt, std::nullopt}));
  const auto all = sums.series();
  ASSERT_EQ(all.size(), 3U) << "one that never ran has none";
  EXPECT_EQ(all[0].first, "server");
  EXPECT_EQ(all[0].second.t_ns, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(all[1].second.values, (std::vector<std::int64_t>{500'000, 500'000, 434'464}));
  EXPECT_EQ(all[2].first, "all");
  EXPECT_EQ(all[2].second.metric, "rss_bytes");
  EXPECT_EQ(all[2].second.values,
            (std::vector<std::int64_t>{1'000'000, 1'500'000, 1'565'535, 434'464}));
  EXPECT_EQ(sums.series_of("all").values, all[2].second.values);
  EXPECT_EQ(sums.series_of("client").values, all[1].second.values);
  EXPECT_TRUE(sums.series_of("never").values.empty());
  EXPECT_TRUE(sums.series_of("nobody").values.empty());
}

}  // namespace
}  // namespace memduel
