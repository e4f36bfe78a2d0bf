#include "sampling_interval.h"

#include <gtest/gtest.h>

#include "model/metric_catalogue.h"
#include "model/run_data.h"

namespace memduel {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

std::vector<RoleData> sampled_at(std::vector<std::int64_t> t_ns) {
  RoleData client;
  client.role = "client";
  client.series = {{"rss_bytes", {0, kMillisecond, 2 * kMillisecond}, {1, 1, 1}}};
  RoleData tree;
  tree.role = kTree;
  tree.series = {{"rss_bytes", t_ns, std::vector<std::int64_t>(t_ns.size(), 1)}};
  return {client, tree};
}

TEST(SamplingInterval, IsTheMedianOfTheWholeJobs) {
  EXPECT_EQ(
      stored_interval_ms(sampled_at({0, 2 * kMillisecond, 26 * kMillisecond, 50 * kMillisecond})),
      24);
  EXPECT_FALSE(stored_interval_ms(sampled_at({0, 2 * kMillisecond})));
  EXPECT_FALSE(stored_interval_ms({}));
}

TEST(SamplingInterval, IsSaidWhereItIsClearlyLonger) {
  EXPECT_FALSE(sampled_less_often({}, 2, "why"));
  EXPECT_FALSE(sampled_less_often({3.9, 2.5, 24}, 2, "why"));
  const auto note = sampled_less_often({24, 2.5, 8.04}, 2, "why");
  ASSERT_TRUE(note);
  EXPECT_EQ(note->code, kSampledLessOften);
  EXPECT_EQ(note->message, "the stored RSS samples are 8.04 ms apart (median), not 2 ms");
  EXPECT_EQ(note->advice, "why");
}

}  // namespace
}  // namespace memduel
