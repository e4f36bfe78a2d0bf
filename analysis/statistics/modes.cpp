#include "analysis/statistics/modes.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/hodges_lehmann.h"

namespace memduel {
namespace {

constexpr size_t kMostModes = 5;
constexpr double kLeastGap = 0.01;
constexpr int kLeastGroup = 3;  ///< fewer are single trials, not a mode

}  // namespace

std::vector<Mode> find_modes(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  if (sorted.size() < 2 * kLeastGroup || !std::isfinite(sorted.front()) ||
      !std::isfinite(sorted.back()))
    return {};
  double widest = 0;
  for (size_t i = 1; i < sorted.size(); ++i) widest = std::max(widest, sorted[i] - sorted[i - 1]);
  if (widest < kLeastGap * std::abs(median(sorted)) || widest == 0) return {};
  std::vector<Mode> modes;
  size_t begin = 0;
  for (size_t i = 1; i <= sorted.size(); ++i) {
    if (i < sorted.size() && sorted[i] - sorted[i - 1] <= widest / 2) continue;
    const std::vector<double> group(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                                    sorted.begin() + static_cast<std::ptrdiff_t>(i));
    modes.push_back({group.front(), group.back(), median(group), static_cast<int>(group.size())});
    begin = i;
  }
  const bool wide = std::ranges::any_of(
      modes, [&](const Mode& mode) { return mode.high - mode.low > widest / 2; });
  if (modes.size() > kMostModes || wide) return {};
  std::erase_if(modes, [](const Mode& mode) { return mode.count < kLeastGroup; });
  if (modes.size() < 2) return {};
  return modes;
}

}  // namespace memduel
