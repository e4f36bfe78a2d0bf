// Which test judges a shift, by the number of blocks: declared here, before any data is seen.
#pragma once

#include <span>
#include <variant>

#include "analysis/interval.h"
#include "analysis/mann_whitney.h"
#include "analysis/sign_flip.h"

namespace memduel {

constexpr int kMinimumBlocks = 5;  ///< below: no verdict
constexpr int kPairedBlocks = 8;   ///< from here on: the paired sign-flip test

enum class Design { paired, unpaired };

/// The test of b against a and its interval; p and interval never disagree.
class ShiftTest {
 public:
  /// Paired: `a[i]` and `b[i]` come from the same block. From kPairedBlocks paired values on the
  /// exact sign-flip test, else the exact Mann-Whitney test.
  ShiftTest(std::span<const double> a, std::span<const double> b, Design design);

  [[nodiscard]] double p_value() const;
  [[nodiscard]] Interval interval(double alpha) const;
  /// "exact paired sign-flip test on pooled mid-ranks" or "exact Mann-Whitney test".
  [[nodiscard]] const char* name() const;

 private:
  std::variant<SignFlip, MannWhitney> test_;
};

/// Smallest p that the test can reach with n blocks.
double smallest_p(int blocks);

}  // namespace memduel
