#include "analysis/shift_test.h"

#include <cmath>

namespace memduel {
namespace {

std::variant<SignFlip, MannWhitney> choose(std::span<const double> a, std::span<const double> b,
                                           Design design) {
  if (design == Design::paired && a.size() >= static_cast<size_t>(kPairedBlocks)) {
    return SignFlip(a, b);
  }
  return MannWhitney(a, b);
}

}  // namespace

ShiftTest::ShiftTest(std::span<const double> a, std::span<const double> b, Design design)
    : test_(choose(a, b, design)) {}

double ShiftTest::p_value() const {
  return std::visit([](const auto& test) { return test.p_value(); }, test_);
}

Interval ShiftTest::interval(double alpha) const {
  return std::visit([&](const auto& test) { return test.interval(alpha); }, test_);
}

const char* ShiftTest::name() const {
  return std::holds_alternative<SignFlip>(test_) ? "exact paired sign-flip test on pooled mid-ranks"
                                                 : "exact Mann-Whitney test";
}

double smallest_p(int blocks) {
  if (blocks >= kPairedBlocks) return std::ldexp(1.0, 1 - blocks);
  return 2 * mann_whitney_cdf(blocks, blocks).front();
}

}  // namespace memduel
