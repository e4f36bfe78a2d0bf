#include "analysis/statistics/shift_test.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/statistics/trial_order.h"

namespace memduel {
namespace {

std::variant<SignFlip, MannWhitney, SwapTest> choose(std::span<const double> a,
                                                     std::span<const double> b, Design design) {
  if (design == Design::paired && a.size() >= static_cast<size_t>(kPairedBlocks)) {
    return SignFlip(a, b);
  }
  return MannWhitney(a, b);
}

}  // namespace

ShiftTest::ShiftTest(std::span<const double> a, std::span<const double> b, Design design)
    : test_(choose(a, b, design)) {}

ShiftTest::ShiftTest(PlacedValues values) : test_(SwapTest(std::move(values))) {}

double ShiftTest::p_value() const {
  return std::visit([](const auto& test) { return test.p_value(); }, test_);
}

Interval ShiftTest::interval(double alpha) const {
  return std::visit([&](const auto& test) { return test.interval(alpha); }, test_);
}

const char* ShiftTest::name() const {
  if (std::holds_alternative<SwapTest>(test_)) return kSuperblocks;
  return std::holds_alternative<SignFlip>(test_) ? kSignFlips : kMannWhitney;
}

double smallest_p(int blocks, Design design) {
  if (design == Design::restricted) {
    double orders = 1;
    for (const int segment : segments_of(blocks)) orders *= accepted_orders(segment);
    return std::min(1.0, 2 / orders);
  }
  if (design == Design::superblocks) {
    const double deals = std::pow(6.0, blocks / 2) * (blocks % 2 == 1 ? 2 : 1);
    return std::min(1.0, 2 / deals);
  }
  if (design == Design::paired && blocks >= kPairedBlocks) return std::ldexp(1.0, 1 - blocks);
  return 2 * mann_whitney_cdf(blocks, blocks).front();
}

}  // namespace memduel
