// Amounts of memory by allocation site.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace memduel {

/// An estimated amount: sums of unbiased samples. Exact when every block was recorded (variance 0).
struct Estimate {
  double bytes = 0;     ///< requested bytes
  double count = 0;     ///< blocks
  double variance = 0;  ///< of bytes
  std::int64_t samples = 0;

  Estimate& operator+=(const Estimate& other);
  Estimate& operator-=(const Estimate& other);

  /// Half the width of the 95 % interval of `bytes` (normal approximation).
  [[nodiscard]] double half_width() const;
};

/// What was live at one moment, by site (index into Profile::sites).
using LiveSites = std::vector<std::pair<std::uint32_t, Estimate>>;

}  // namespace memduel
