#include "synthetic_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "test_recorded_drive.h"

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

/// Runs of injected frames: those less than a second apart.
struct Intrusion {
  std::int64_t begin_us;
  std::int64_t end_us;
  std::vector<CanFrame> frames;
};

std::vector<Intrusion> intrusions_in(const std::vector<CanFrame>& frames) {
  std::vector<Intrusion> intrusions;
  for (const CanFrame& frame : frames) {
    if (!frame.attack) continue;
    if (intrusions.empty() || frame.time_us - intrusions.back().end_us > 1'000'000)
      intrusions.push_back({frame.time_us, frame.time_us, {}});
    intrusions.back().end_us = frame.time_us;
    intrusions.back().frames.push_back(frame);
  }
  return intrusions;
}

class Injection : public testing::TestWithParam<Attack> {};

// 300 s: between one intrusion each 9 s and one each 5 s.
TEST_P(Injection, FollowsTheDataSetsDescription) {
  const std::vector<CanFrame> traffic = generate_traffic(300 * 1373, 0, 1);
  const std::int64_t period = GetParam() == Attack::dos     ? 300
                              : GetParam() == Attack::fuzzy ? 500
                                                            : 1000;
  const std::vector<CanFrame> frames = inject(traffic, GetParam(), 7);
  ASSERT_TRUE(std::ranges::is_sorted(
      frames, [](const auto& a, const auto& b) { return a.time_us < b.time_us; }));
  const auto intrusions = intrusions_in(frames);
  EXPECT_GE(intrusions.size(), 300U / 9);
  EXPECT_LE(intrusions.size(), 300U / 5);
  for (std::size_t i = 0; i + 1 < intrusions.size(); ++i) {
    const auto& one = intrusions[i];
    EXPECT_GE(one.end_us - one.begin_us, 3'000'000 - period);
    EXPECT_LT(one.end_us - one.begin_us, 5'000'000);
    EXPECT_EQ(static_cast<std::int64_t>(one.frames.size()),
              (one.end_us - one.begin_us) / period + 1);
    EXPECT_GE(intrusions[i + 1].begin_us - one.end_us, 2'000'000);
  }
}

TEST_P(Injection, LeavesTheTrafficAsItWas) {
  const std::vector<CanFrame> traffic = generate_traffic(30'000, 0, 1);
  std::vector<CanFrame> frames = inject(traffic, GetParam(), 7);
  ASSERT_GT(frames.size(), traffic.size());
  std::erase_if(frames, [](const CanFrame& frame) { return frame.attack; });
  EXPECT_EQ(frames, traffic);
}

TEST_P(Injection, TheSeedDecides) {
  const std::vector<CanFrame> traffic = generate_traffic(30'000, 0, 1);
  EXPECT_EQ(inject(traffic, GetParam(), 7), inject(traffic, GetParam(), 7));
  EXPECT_NE(inject(traffic, GetParam(), 7), inject(traffic, GetParam(), 8));
}

INSTANTIATE_TEST_SUITE_P(Attacks, Injection,
                         testing::Values(Attack::dos, Attack::fuzzy, Attack::spoofing));

TEST(InjectedFrames, OfDosHaveIdentifierAndBytesZero) {
  for (const CanFrame& frame : inject(generate_traffic(20'000, 0, 1), Attack::dos, 1)) {
    if (!frame.attack) continue;
    EXPECT_EQ(frame.id, 0U);
    EXPECT_EQ(frame.length, 8);
    EXPECT_EQ(frame.bytes, CanFrame{}.bytes);
  }
}

// 11,000 draws of 2,048 identifiers miss 0.5% of them.
TEST(InjectedFrames, OfFuzzyAreOfEveryIdentifier) {
  std::set<std::uint32_t> ids;
  std::size_t count = 0;
  for (const CanFrame& frame : inject(generate_traffic(20'000, 0, 1), Attack::fuzzy, 1)) {
    if (!frame.attack) continue;
    ids.insert(frame.id);
    ++count;
  }
  ASSERT_GT(count, 11'000U);
  EXPECT_GT(ids.size(), 2000U);
  EXPECT_LT(*ids.rbegin(), 0x800U);
}

TEST(InjectedFrames, OfSpoofingRepeatOneFrameAnIntrusion) {
  const auto traffic = generate_traffic(30'000, 0, 1);
  const auto intrusions = intrusions_in(inject(traffic, Attack::spoofing, 1));
  ASSERT_GE(intrusions.size(), 2U);
  std::set<std::array<std::uint8_t, 8>> data;
  for (const auto& one : intrusions) {
    data.insert(one.frames.front().bytes);
    for (const CanFrame& frame : one.frames) {
      EXPECT_EQ(frame.id, one.frames.front().id);
      EXPECT_EQ(frame.bytes, one.frames.front().bytes);
    }
  }
  EXPECT_EQ(data.size(), intrusions.size());
  const std::vector<std::uint32_t> known = generated_ids();
  EXPECT_TRUE(std::ranges::binary_search(known, intrusions[0].frames[0].id));
}

TEST(InjectedFrames, IntoNothingAreNone) {
  EXPECT_TRUE(inject({}, Attack::dos, 1).empty());
}

TEST_F(RecordedDrive, TakesInjections) {
  for (const Attack attack : {Attack::dos, Attack::fuzzy, Attack::spoofing}) {
    const auto intrusions = intrusions_in(inject(drive(), attack, 42));
    EXPECT_GE(intrusions.size(), 55U / 9);
    EXPECT_LE(intrusions.size(), 55U / 5);
  }
}

}  // namespace
}  // namespace memduel
