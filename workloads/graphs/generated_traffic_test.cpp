#include "workloads/graphs/generated_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace memduel {
namespace {

TEST(GeneratedTraffic, HasTheDrivesRateAndIdentifiers) {
  const auto frames = generate_traffic(100'000, 5'000'000, 3);
  ASSERT_EQ(frames.size(), 100'000U);
  EXPECT_TRUE(std::ranges::is_sorted(
      frames, [](const auto& a, const auto& b) { return a.time_us < b.time_us; }));
  EXPECT_GE(frames.front().time_us, 5'000'000);
  std::map<std::uint32_t, int> counts;
  for (const CanFrame& frame : frames) ++counts[frame.id];
  EXPECT_EQ(counts.size(), 34U);
  const double seconds = static_cast<double>(frames.back().time_us - 5'000'000) * 1e-6;
  EXPECT_NEAR(100'000 / seconds, 1373, 5);  // 10×100 + 6×50 + 20 + 2×10 + 2×5 + 10×2 + 3×1
  EXPECT_NEAR(counts.begin()->second / seconds, 100, 1);
  EXPECT_NEAR(counts.rbegin()->second / seconds, 1, 0.1);
}

TEST(GeneratedTraffic, HasItsIdentifiersInOrder) {
  const auto ids = generated_ids();
  EXPECT_EQ(ids.size(), 34U);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_LT(ids.back(), 0x800U);
}

TEST(GeneratedTraffic, TheSeedDecides) {
  EXPECT_EQ(generate_traffic(1000, 0, 1), generate_traffic(1000, 0, 1));
  EXPECT_NE(generate_traffic(1000, 0, 1), generate_traffic(1000, 0, 2));
}

TEST(GeneratedTraffic, HasNothingBehindAFramesLength) {
  for (const CanFrame& frame : generate_traffic(5000, 0, 1))
    for (std::size_t i = frame.length; i < kMostCanBytes; ++i) ASSERT_EQ(frame.bytes[i], 0);
}

}  // namespace
}  // namespace memduel
