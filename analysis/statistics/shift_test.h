// Which test judges a shift, by the number of blocks: declared here, before any data is seen.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "analysis/statistics/mann_whitney.h"
#include "analysis/statistics/sign_flip.h"
#include "analysis/statistics/superblock_test.h"
#include "analysis/values/interval.h"

namespace memduel {

constexpr int kMinimumBlocks = 5;  ///< below: no verdict
constexpr int kPairedBlocks = 8;   ///< from here on: the paired sign-flip test

/// How the order of trials came about: superblocks (superblock_test.h), random within each block,
/// as in runs of earlier versions, or not at all.
enum class Design { superblocks, paired, unpaired };

inline constexpr const char* kSuperblocks = "superblocks";
inline constexpr const char* kSignFlips = "sign flips";
inline constexpr const char* kMannWhitney = "Mann-Whitney";

/// The test of b against a and its interval; p and interval never disagree.
class ShiftTest {
 public:
  /// Paired: `a[i]` and `b[i]` come from the same block. From kPairedBlocks paired values on the
  /// exact sign-flip test, else the exact Mann-Whitney test.
  ShiftTest(std::span<const double> a, std::span<const double> b, Design design);

  explicit ShiftTest(std::vector<PlacedValue> values);

  [[nodiscard]] double p_value() const;
  [[nodiscard]] Interval interval(double alpha) const;

  /// "superblocks", "sign flips" or "Mann-Whitney".
  [[nodiscard]] const char* name() const;

  /// The shift that the design's own test centres on; absent where that is Hodges and Lehmann's.
  [[nodiscard]] std::optional<double> estimate() const;

 private:
  std::variant<SignFlip, MannWhitney, SuperblockTest> test_;
};

/// Smallest p that the test can reach with n blocks.
double smallest_p(int blocks, Design design);

}  // namespace memduel
