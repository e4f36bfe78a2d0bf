// Which test judges a shift, by the number of blocks: declared here, before any data is seen.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "analysis/statistics/mann_whitney.h"
#include "analysis/statistics/sign_flip.h"
#include "analysis/statistics/swap_test.h"
#include "analysis/values/interval.h"
#include "base/names.h"

namespace memduel {

constexpr int kMinimumBlocks = 5;  ///< below: no verdict
constexpr int kPairedBlocks = 8;   ///< from here on: the paired sign-flip test

/// How the order of trials came about: restricted (trial_order.h), each superblock or each block
/// by itself, as in runs of earlier versions, or not at all.
enum class Design { restricted, superblocks, paired, unpaired };
template <>
inline constexpr NameTable<Design, 4> kNameTable<Design> = {{{Design::restricted, "restricted"},
                                                             {Design::superblocks, "superblocks"},
                                                             {Design::paired, "blocks"},
                                                             {Design::unpaired, "none"}}};

/// Whether labels are swapped on their places.
constexpr bool has_places(Design design) {
  return design == Design::restricted || design == Design::superblocks;
}

inline constexpr const char* kSuperblocks = "superblocks";
inline constexpr const char* kSignFlips = "sign flips";
inline constexpr const char* kMannWhitney = "Mann-Whitney";

/// The test of b against a and its interval; p and interval never disagree.
class ShiftTest {
 public:
  /// Paired: `a[i]` and `b[i]` come from the same block. From kPairedBlocks paired values on the
  /// exact sign-flip test, else the exact Mann-Whitney test.
  ShiftTest(std::span<const double> a, std::span<const double> b, Design design);

  explicit ShiftTest(PlacedValues values);

  [[nodiscard]] double p_value() const;
  [[nodiscard]] Interval interval(double alpha) const;

  /// "superblocks", "sign flips" or "Mann-Whitney".
  [[nodiscard]] const char* name() const;

  /// Null where labels are not swapped on their places.
  [[nodiscard]] const SwapTest* swaps() const { return std::get_if<SwapTest>(&test_); }

 private:
  std::variant<SignFlip, MannWhitney, SwapTest> test_;
};

/// Smallest p that the test of two arms can reach with n blocks. More arms of a restricted order
/// have fewer swaps: reachable_p.h.
double smallest_p(int blocks, Design design);

}  // namespace memduel
