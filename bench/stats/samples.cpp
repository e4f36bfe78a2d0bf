#include "stats/samples.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>

namespace memduel {
namespace {

constexpr std::size_t kLeastNeighbours = 3;
constexpr double kRounding = 1e-12;

/// Second minus first of all neighbours that both have a finite value.
std::vector<PlaceEffect> neighbour_differences(std::span<const PlacedValue> values) {
  std::map<int, std::pair<const PlacedValue*, const PlacedValue*>> pairs;
  for (const PlacedValue& value : values) {
    if (value.side == 0) continue;
    auto& [first, second] = pairs[value.neighbours];
    (value.side < 0 ? first : second) = &value;
  }
  std::vector<PlaceEffect> differences;
  for (const auto& [number, pair] : pairs) {
    const auto& [first, second] = pair;
    if (first == nullptr || second == nullptr) continue;
    if (!std::isfinite(first->value) || !std::isfinite(second->value)) continue;
    differences.push_back(
        {second->value - first->value, static_cast<double>(second->candidate) - first->candidate});
  }
  return differences;
}

/// Sums of squares around the mean: of base, of slope, and of both.
struct Spread {
  double base = 0;
  double slope = 0;
  double both = 0;
};

Spread spread_of(std::span<const PlaceEffect> differences, const PlaceEffect& mean) {
  Spread sums;
  for (const PlaceEffect& one : differences) {
    const double base = one.base - mean.base;
    const double slope = one.slope - mean.slope;
    sums.base += base * base;
    sums.slope += slope * slope;
    sums.both += base * slope;
  }
  return sums;
}

}  // namespace

PlaceRule::PlaceRule(const PlacedValues& values) {
  if (!values.removes_places) return;
  differences_ = neighbour_differences(values.values);
  const auto n = static_cast<double>(differences_.size());
  const auto equal = std::ranges::count(differences_, 0.0, &PlaceEffect::base);
  if (differences_.size() < kLeastNeighbours || 2 * equal >= std::ssize(differences_)) {
    differences_.clear();
    return;
  }
  for (const PlaceEffect& one : differences_) {
    effect_.base += one.base / n;
    effect_.slope += one.slope / n;
  }
  find_borders();
}

double PlaceRule::p_value(double delta) const {
  if (differences_.empty() || !std::isfinite(delta)) return 1;
  const Spread sums = spread_of(differences_, effect_);
  const auto n = static_cast<double>(differences_.size());
  const double squares =
      std::max(0.0, sums.base - 2 * delta * sums.both + delta * delta * sums.slope);
  const double mean = effect_.at(delta);
  // Rounding alone leaves something where all differences are the shift.
  if (std::abs(mean) <=
      kRounding * std::max(std::abs(effect_.base), std::abs(delta * effect_.slope)))
    return 1;
  const double error = std::sqrt(squares / (n - 1) / n);
  if (error == 0) return 0;
  const boost::math::students_t t(n - 1);
  return 2 * boost::math::cdf(boost::math::complement(t, std::abs(mean) / error));
}

void PlaceRule::find_borders() {
  const Spread sums = spread_of(differences_, effect_);
  const auto n = static_cast<double>(differences_.size());
  const boost::math::students_t student(n - 1);
  const double t = boost::math::quantile(boost::math::complement(student, kPlaceLevel / 2));
  // It acts where mean^2 > t^2 * squares / (n - 1) / n: a2 x^2 + a1 x + a0 > 0 in the shift x.
  const double c = t * t / (n - 1) / n;
  const double a2 = effect_.slope * effect_.slope - c * sums.slope;
  const double a1 = -2 * (effect_.base * effect_.slope - c * sums.both);
  const double a0 = effect_.base * effect_.base - c * sums.base;
  if (a2 == 0) {
    if (a1 != 0) borders_ = {-a0 / a1};
    acts_above_ = a1 != 0 ? a1 > 0 : a0 > 0;
    return;
  }
  acts_above_ = a2 > 0;
  const double root = a1 * a1 - 4 * a2 * a0;
  if (root <= 0) return;
  const double half = std::sqrt(root) / (2 * std::abs(a2));
  const double middle = -a1 / (2 * a2);
  borders_ = {middle - half, middle + half};
}

bool PlaceRule::acts(double delta) const {
  const auto above = std::ranges::lower_bound(borders_, delta);
  if (above != borders_.end() && *above == delta) return false;
  return acts_above_ == ((borders_.end() - above) % 2 == 0);
}

}  // namespace memduel
