#include "analysis/statistics/theil_sen.h"

#include <vector>

#include "analysis/statistics/hodges_lehmann.h"

namespace memduel {
namespace {

constexpr size_t kMostPoints = 1000;

std::vector<double> stretch_medians(std::span<const double> values) {
  std::vector<double> medians;
  medians.reserve(kMostPoints);
  for (size_t k = 0; k < kMostPoints; ++k) {
    const size_t begin = values.size() * k / kMostPoints;
    const size_t end = values.size() * (k + 1) / kMostPoints;
    medians.push_back(median({values.begin() + static_cast<std::ptrdiff_t>(begin),
                              values.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return medians;
}

}  // namespace

std::optional<double> theil_sen_slope(std::span<const double> x, std::span<const double> y) {
  if (x.size() > kMostPoints) {
    return theil_sen_slope(stretch_medians(x), stretch_medians(y));
  }
  std::vector<double> slopes;
  slopes.reserve(x.size() * (x.size() + 1) / 2);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j) {
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  if (slopes.empty()) return std::nullopt;
  return median(std::move(slopes));
}

}  // namespace memduel
