#include "analysis/steps.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/hodges_lehmann.h"

namespace memduel {
namespace {

constexpr size_t kShortestSide = 3;
constexpr size_t kMostSteps = 3;
constexpr double kSpreads = 5;
constexpr double kMadToSigma = 1.4826;

/// The split that leaves the smallest sum of squares around the two means.
std::optional<size_t> best_split(std::span<const double> y) {
  if (y.size() < 2 * kShortestSide) return std::nullopt;
  double total = 0;
  for (const double v : y) total += v;
  double left = 0;
  double best_gain = -1;
  size_t best = 0;
  for (size_t k = 1; k + kShortestSide <= y.size(); ++k) {
    left += y[k - 1];
    if (k < kShortestSide) continue;
    const auto n_left = static_cast<double>(k);
    const auto n_right = static_cast<double>(y.size() - k);
    const double gap = left / n_left - (total - left) / n_right;
    const double gain = n_left * n_right * gap * gap;
    if (gain > best_gain) {
      best_gain = gain;
      best = k;
    }
  }
  return best;
}

bool is_jump(std::span<const double> y, size_t split) {
  const std::vector<double> left(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(split));
  const std::vector<double> right(y.begin() + static_cast<std::ptrdiff_t>(split), y.end());
  const double level_left = median(left);
  const double level_right = median(right);
  std::vector<double> deviation;
  deviation.reserve(y.size());
  for (const double v : left) deviation.push_back(std::abs(v - level_left));
  for (const double v : right) deviation.push_back(std::abs(v - level_right));
  const double height = std::abs(level_right - level_left);
  return height > 0 && height >= kSpreads * kMadToSigma * median(std::move(deviation));
}

}  // namespace

std::vector<size_t> find_steps(std::span<const double> y) {
  std::vector<size_t> steps;
  std::vector<std::pair<size_t, size_t>> open = {{0, y.size()}};
  while (!open.empty() && steps.size() < kMostSteps) {
    const auto [begin, end] = open.front();
    open.erase(open.begin());
    const std::span<const double> part = y.subspan(begin, end - begin);
    const std::optional<size_t> split = best_split(part);
    if (!split || !is_jump(part, *split)) continue;
    steps.push_back(begin + *split);
    open.emplace_back(begin, begin + *split);
    open.emplace_back(begin + *split, end);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace memduel
