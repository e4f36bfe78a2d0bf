// Adjusted p-values for families of tests.
#pragma once

#include <span>
#include <vector>

#include "analysis/values/placed_values.h"

namespace memduel {

/// Holm's step-down (Scand. J. Statist. 6, 1979): the chance of one false rejection or more stays
/// within the level, whatever the dependence. For gate rows.
std::vector<double> holm(std::span<const double> p);

/// One test of several that share their trials.
struct SwappedTest {
  std::vector<int> ranks;  ///< doubled mid-ranks of all values, as swapped_rank_p() takes them
  double p = 1;            ///< of the test alone
};

/// Westfall and Young's step-down of the smallest p (Resampling-Based Multiple Testing, 1993; Ge,
/// Dudoit and Speed, Test 12, 2003): the chance of one false rejection or more stays within the
/// level, and tests that move together cost less than by Holm. The same swaps of labels for all
/// tests: every one of up to 10,000, of more 9,999 random ones beside the one that was made. For
/// the gate rows of one candidate.
std::vector<double> westfall_young(const PlacedValues& values, std::span<const SwappedTest> tests);

/// Benjamini and Hochberg's step-up (J. R. Statist. Soc. B 57, 1995): the expected share of false
/// rejections. For advisory rows.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace memduel
