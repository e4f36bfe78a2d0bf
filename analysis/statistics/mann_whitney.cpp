#include "analysis/statistics/mann_whitney.h"

#include <algorithm>

#include "analysis/statistics/hodges_lehmann.h"

namespace memduel {

std::vector<double> mann_whitney_cdf(int m, int n) {
  // The number of ways to choose the ranks of the first sample is the Gaussian binomial coefficient
  // of (m + n over m): multiply by (1 - q^(n+i)) and divide by (1 - q^i) for i = 1 … m. Kept as
  // probabilities: each step also divides by (n + i) / i.
  const int top = m * n;
  std::vector<double> f(static_cast<size_t>(top) + 1, 0.0);
  f[0] = 1;
  for (int i = 1; i <= m; ++i) {
    for (int u = top; u >= n + i; --u)
      f[static_cast<size_t>(u)] -= f[static_cast<size_t>(u - n - i)];
    for (int u = i; u <= top; ++u) f[static_cast<size_t>(u)] += f[static_cast<size_t>(u - i)];
    for (double& x : f) x *= static_cast<double>(i) / (n + i);
  }
  double sum = 0;
  for (double& x : f) {
    sum += x;
    x = std::min(sum, 1.0);
  }
  return f;
}

MannWhitney::MannWhitney(std::span<const double> a, std::span<const double> b)
    : differences_(sorted_differences(a, b)),
      cdf_(mann_whitney_cdf(static_cast<int>(a.size()), static_cast<int>(b.size()))) {}

double MannWhitney::p_value() const {
  const auto not_above =
      static_cast<size_t>(std::ranges::upper_bound(differences_, 0.0) - differences_.begin());
  const auto not_below =
      static_cast<size_t>(differences_.end() - std::ranges::lower_bound(differences_, 0.0));
  return std::min(1.0, 2 * cdf_[std::min(not_above, not_below)]);
}

Interval MannWhitney::interval(double alpha) const {
  size_t k = 0;
  while (k < cdf_.size() && 2 * cdf_[k] <= alpha) ++k;
  if (k == 0) return {};
  if (2 * k > differences_.size()) k = (differences_.size() + 1) / 2;
  return {differences_[k - 1], differences_[differences_.size() - k]};
}

}  // namespace memduel
