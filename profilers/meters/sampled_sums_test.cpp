#include "profilers/meters/sampled_sums.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

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
  EXPECT_EQ(all[2].first, "tree");
  EXPECT_EQ(all[2].second.metric, "rss_bytes");
  EXPECT_EQ(all[2].second.values,
            (std::vector<std::int64_t>{1'000'000, 1'500'000, 1'565'535, 434'464}));
  EXPECT_EQ(sums.series_of("tree").values, all[2].second.values);
  EXPECT_EQ(sums.series_of("client").values, all[1].second.values);
  EXPECT_TRUE(sums.series_of("never").values.empty());
  EXPECT_TRUE(sums.series_of("nobody").values.empty());
}

}  // namespace
}  // namespace memduel
