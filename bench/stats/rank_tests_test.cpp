// What must hold for any data. RapidCheck draws the values, with ties and without.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/statistics/shift_test.h"

namespace memduel {
namespace {

struct Sample {
  std::vector<double> a;
  std::vector<double> b;
};

/// 5 to 12 blocks of small whole numbers (many ties) or of finer steps (few).
Sample draw_sample() {
  const auto n = *rc::gen::inRange<size_t>(5, 13);
  const int range = *rc::gen::element(4, 100000);
  const auto values = rc::gen::container<std::vector<int>>(n, rc::gen::inRange(0, range));
  const std::vector<int> a = *values;
  const std::vector<int> b = *values;
  return {{a.begin(), a.end()}, {b.begin(), b.end()}};
}

double draw_alpha() {
  return *rc::gen::element(0.01, 0.015, 0.02, 0.05, 0.1);
}

ShiftTest paired(const Sample& sample) {
  return {sample.a, sample.b, Design::paired};
}

void expect_property(const std::function<void()>& property) {
  EXPECT_TRUE(rc::check(property));
}

TEST(ShiftTestProperty, PAndIntervalNeverDisagree) {
  expect_property([] {
    const Sample sample = draw_sample();
    const double alpha = draw_alpha();
    const ShiftTest test = paired(sample);
    RC_ASSERT((test.p_value() <= alpha) == !test.interval(alpha).contains(0));
  });
}

TEST(ShiftTestProperty, NarrowerConfidenceGivesANarrowerInterval) {
  expect_property([] {
    const ShiftTest test = paired(draw_sample());
    const Interval wide = test.interval(0.02);
    const Interval narrow = test.interval(0.1);
    RC_ASSERT(wide.low <= narrow.low);
    RC_ASSERT(narrow.high <= wide.high);
  });
}

TEST(ShiftTestProperty, ScalingTheDataScalesTheInterval) {
  expect_property([] {
    const Sample sample = draw_sample();
    Sample scaled = sample;
    // A power of two, so that no rounding changes the order of differences.
    for (double& x : scaled.a) x *= 8;
    for (double& x : scaled.b) x *= 8;
    const ShiftTest test = paired(sample);
    const ShiftTest of_scaled = paired(scaled);
    RC_ASSERT(test.p_value() == of_scaled.p_value());
    RC_ASSERT(8 * test.interval(0.05).low == of_scaled.interval(0.05).low);
    RC_ASSERT(8 * test.interval(0.05).high == of_scaled.interval(0.05).high);
  });
}

TEST(ShiftTestProperty, SwappingTheArmsMirrorsTheInterval) {
  expect_property([] {
    const Sample sample = draw_sample();
    const ShiftTest test = paired(sample);
    const ShiftTest mirrored = paired({sample.b, sample.a});
    RC_ASSERT(test.p_value() == mirrored.p_value());
    RC_ASSERT(test.interval(0.05).low == -mirrored.interval(0.05).high);
    RC_ASSERT(test.interval(0.05).high == -mirrored.interval(0.05).low);
    RC_ASSERT(hodges_lehmann_shift(sample.a, sample.b) ==
              -hodges_lehmann_shift(sample.b, sample.a));
  });
}

TEST(ShiftTestProperty, TheOrderOfBlocksDoesNotMatter) {
  expect_property([] {
    const Sample sample = draw_sample();
    Sample turned = sample;
    const auto by = static_cast<std::ptrdiff_t>(*rc::gen::inRange<size_t>(0, sample.a.size()));
    std::rotate(turned.a.begin(), turned.a.begin() + by, turned.a.end());
    std::rotate(turned.b.begin(), turned.b.begin() + by, turned.b.end());
    RC_ASSERT(paired(sample).p_value() == paired(turned).p_value());
    RC_ASSERT(paired(sample).interval(0.05).low == paired(turned).interval(0.05).low);
  });
}

TEST(ShiftTestProperty, ShiftingOneArmShiftsTheInterval) {
  expect_property([] {
    const Sample sample = draw_sample();
    Sample shifted = sample;
    for (double& x : shifted.b) x += 1000;
    RC_ASSERT(paired(sample).interval(0.05).low + 1000 == paired(shifted).interval(0.05).low);
    RC_ASSERT(paired(sample).interval(0.05).high + 1000 == paired(shifted).interval(0.05).high);
  });
}

}  // namespace
}  // namespace memduel
