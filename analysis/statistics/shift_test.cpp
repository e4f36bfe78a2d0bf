#include "analysis/statistics/shift_test.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace memduel {
namespace {

std::variant<SignFlip, MannWhitney, SuperblockTest> choose(std::span<const double> a,
                                                           std::span<const double> b,
                                                           Design design) {
  if (design == Design::paired && a.size() >= static_cast<size_t>(kPairedBlocks)) {
    return SignFlip(a, b);
  }
  return MannWhitney(a, b);
}

}  // namespace

ShiftTest::ShiftTest(std::span<const double> a, std::span<const double> b, Design design)
    : test_(choose(a, b, design)) {}

ShiftTest::ShiftTest(std::vector<PlacedValue> values) : test_(SuperblockTest(std::move(values))) {}

double ShiftTest::p_value() const {
  return std::visit([](const auto& test) { return test.p_value(); }, test_);
}

Interval ShiftTest::interval(double alpha) const {
  return std::visit([&](const auto& test) { return test.interval(alpha); }, test_);
}

const char* ShiftTest::name() const {
  if (std::holds_alternative<SuperblockTest>(test_)) return kSuperblocks;
  return std::holds_alternative<SignFlip>(test_) ? kSignFlips : kMannWhitney;
}

std::optional<double> ShiftTest::estimate() const {
  const auto* own = std::get_if<SuperblockTest>(&test_);
  return own == nullptr ? std::nullopt : std::optional(own->estimate());
}

double smallest_p(int blocks, Design design) {
  if (design == Design::superblocks) {
    const double deals = std::pow(6.0, blocks / 2) * (blocks % 2 == 1 ? 2 : 1);
    return std::min(1.0, 2 / deals);
  }
  if (design == Design::paired && blocks >= kPairedBlocks) return std::ldexp(1.0, 1 - blocks);
  return 2 * mann_whitney_cdf(blocks, blocks).front();
}

}  // namespace memduel
