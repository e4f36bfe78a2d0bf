#include "analysis/statistics/multiplicity.h"

#include <algorithm>
#include <numeric>

namespace memduel {
namespace {

std::vector<size_t> ascending(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t i, size_t j) { return p[i] < p[j]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  double so_far = 0;
  size_t left = p.size();
  for (const size_t i : ascending(p)) {
    so_far = std::max(so_far, std::min(1.0, static_cast<double>(left--) * p[i]));
    adjusted[i] = so_far;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  const std::vector<size_t> order = ascending(p);
  double so_far = 1;
  for (size_t k = order.size(); k-- > 0;) {
    const double scaled = p[order[k]] * static_cast<double>(p.size()) / static_cast<double>(k + 1);
    so_far = std::min(so_far, scaled);
    adjusted[order[k]] = so_far;
  }
  return adjusted;
}

}  // namespace memduel
