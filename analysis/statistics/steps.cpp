#include "analysis/statistics/steps.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/statistics/hodges_lehmann.h"

namespace memduel {
namespace {

constexpr size_t kShortestSide = 3;
constexpr size_t kMostSteps = 3;
constexpr double kSpreads = 5;

struct Split {
  size_t at = 0;
  double gain = 0;  ///< by how much it lowers the sum of squares around the means
};

/// The best split of y[begin, end).
std::optional<Split> best_split(std::span<const double> y, size_t begin, size_t end) {
  const std::span<const double> part = y.subspan(begin, end - begin);
  if (part.size() < 2 * kShortestSide) return std::nullopt;
  double total = 0;
  for (const double v : part) total += v;
  double left = 0;
  Split best;
  for (size_t k = 1; k + kShortestSide <= part.size(); ++k) {
    left += part[k - 1];
    if (k < kShortestSide) continue;
    const auto n_left = static_cast<double>(k);
    const auto n_right = static_cast<double>(part.size() - k);
    const double gap = left / n_left - (total - left) / n_right;
    const double gain = n_left * n_right / (n_left + n_right) * gap * gap;
    if (best.at == 0 || gain > best.gain) best = {begin + k, gain};
  }
  return best;
}

/// The best split of any stretch between `ends`.
std::optional<Split> best_split(std::span<const double> y, const std::vector<size_t>& ends) {
  std::optional<Split> best;
  for (size_t i = 1; i < ends.size(); ++i) {
    const std::optional<Split> split = best_split(y, ends[i - 1], ends[i]);
    if (split && (!best || split->gain > best->gain)) best = split;
  }
  return best;
}

/// Whether the levels between `ends` differ clearly from their neighbours.
bool all_jumps(std::span<const double> y, const std::vector<size_t>& ends) {
  std::vector<double> levels;
  std::vector<double> deviation;
  for (size_t i = 1; i < ends.size(); ++i) {
    const auto part = y.subspan(ends[i - 1], ends[i] - ends[i - 1]);
    levels.push_back(median({part.begin(), part.end()}));
    for (const double v : part) deviation.push_back(std::abs(v - levels.back()));
  }
  const double least = kSpreads * sigma_of_deviations(std::move(deviation));
  for (size_t i = 1; i < levels.size(); ++i) {
    const double height = std::abs(levels[i] - levels[i - 1]);
    if (!(height > 0) || height < least) return false;
  }
  return true;
}

}  // namespace

std::vector<size_t> find_steps(std::span<const double> y) {
  std::vector<size_t> ends = {0, y.size()};
  std::vector<size_t> steps;
  for (size_t count = 1; count <= kMostSteps; ++count) {
    const std::optional<Split> split = best_split(y, ends);
    if (!split) break;
    ends.insert(std::ranges::upper_bound(ends, split->at), split->at);
    if (all_jumps(y, ends)) steps.assign(ends.begin() + 1, ends.end() - 1);
  }
  return steps;
}

}  // namespace memduel
