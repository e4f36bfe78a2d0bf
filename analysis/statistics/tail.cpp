#include "analysis/statistics/tail.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

namespace memduel {

Tail tail(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  Tail result{sorted.back(), {}};
  for (const double value : sorted) {
    if (result.distinct.empty() || result.distinct.back().value != value) {
      result.distinct.push_back({value, 0});
    }
    ++result.distinct.back().count;
  }
  return result;
}

double exceedance_bound(int exceeded, int n) {
  if (exceeded >= n) return 1;
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(n, exceeded, kAlpha);
}

Interval clopper_pearson(int hits, int n) {
  using Binomial = boost::math::binomial_distribution<>;
  return {hits == 0 ? 0 : Binomial::find_lower_bound_on_p(n, hits, 0.025),
          hits == n ? 1 : Binomial::find_upper_bound_on_p(n, hits, 0.025)};
}

}  // namespace memduel
