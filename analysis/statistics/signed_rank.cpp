#include "analysis/statistics/signed_rank.h"

#include <algorithm>

#include "analysis/statistics/hodges_lehmann.h"

namespace memduel {

std::vector<double> signed_rank_cdf(int n) {
  const int top = n * (n + 1) / 2;
  std::vector<double> f(static_cast<size_t>(top) + 1, 0.0);
  f[0] = 1;
  for (int rank = 1; rank <= n; ++rank) {
    for (int w = top; w >= 0; --w) {
      const double without = f[static_cast<size_t>(w)];
      const double with = w >= rank ? f[static_cast<size_t>(w - rank)] : 0;
      f[static_cast<size_t>(w)] = 0.5 * (without + with);
    }
  }
  double sum = 0;
  for (double& x : f) {
    sum += x;
    x = std::min(sum, 1.0);
  }
  return f;
}

Interval signed_rank_interval(std::span<const double> x, double alpha) {
  const std::vector<double> walsh = sorted_walsh_averages(x);
  const std::vector<double> cdf = signed_rank_cdf(static_cast<int>(x.size()));
  size_t k = 0;
  while (k < cdf.size() && 2 * cdf[k] <= alpha) ++k;
  if (k == 0) return {};
  k = std::min(k, (walsh.size() + 1) / 2);
  return {walsh[k - 1], walsh[walsh.size() - k]};
}

double signed_rank_p(std::span<const double> x) {
  const std::vector<double> walsh = sorted_walsh_averages(x);
  const std::vector<double> cdf = signed_rank_cdf(static_cast<int>(x.size()));
  const auto not_above = static_cast<size_t>(std::ranges::upper_bound(walsh, 0.0) - walsh.begin());
  const auto not_below = static_cast<size_t>(walsh.end() - std::ranges::lower_bound(walsh, 0.0));
  return std::min(1.0, 2 * cdf[std::min(not_above, not_below)]);
}

}  // namespace memduel
