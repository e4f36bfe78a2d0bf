#include "analysis/statistics/hodges_lehmann.h"

#include <algorithm>

namespace memduel {
namespace {

double middle(double a, double b) {
  return a == b ? a : a + (b - a) / 2;
}

double median_of_sorted(const std::vector<double>& sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : middle(sorted[half - 1], sorted[half]);
}

}  // namespace

double median(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return middle(*std::max_element(values.begin(), half), *half);
}

double sigma_of_deviations(std::vector<double> deviations) {
  return 1.4826 * median(std::move(deviations));
}

std::vector<double> sorted_differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double y : b) {
    for (const double x : a) differences.push_back(x == y ? 0 : y - x);
  }
  std::ranges::sort(differences);
  return differences;
}

double hodges_lehmann_shift(std::span<const double> a, std::span<const double> b) {
  return median_of_sorted(sorted_differences(a, b));
}

}  // namespace memduel
