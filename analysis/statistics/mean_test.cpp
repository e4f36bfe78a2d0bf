#include "analysis/statistics/mean_test.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/statistics/superblock_test.h"
#include "analysis/values/random.h"

namespace memduel {
namespace {

constexpr std::size_t kMostMeanDeals = 10000;
constexpr double kSpreadCount = 5;
constexpr double kMoreSpread = 0.8;  ///< standard deviations of the rank sum of distances
constexpr double kSameMean = 1e-9;
/// Of Welch's t. Missing large values make one of this size in 0.5 % of duels of six blocks at
/// most: exponential and lognormal arms of up to five times the spread of the other.
constexpr double kBeyondMissingValues = 18;

/// Powers summed over the values that one arm got.
struct Sums {
  double first = 0;
  double second = 0;
  double third = 0;

  Sums& operator+=(const Sums& other) {
    first += other.first;
    second += other.second;
    third += other.third;
    return *this;
  }
  friend Sums operator-(Sums a, const Sums& b) {
    return {a.first - b.first, a.second - b.second, a.third - b.third};
  }
};

Sums powers(double x) {
  return {x, x * x, x * x * x};
}

struct Cumulants {
  double mean = 0;
  double variance_of_mean = 0;
  double third_of_mean = 0;
};

/// Unbiased k-statistics, divided down to those of the mean.
Cumulants cumulants(const Sums& sums, double n) {
  const double mean = sums.first / n;
  const double squares = std::max(0.0, sums.second - n * mean * mean);
  const double cubes = sums.third - 3 * mean * sums.second + 2 * n * mean * mean * mean;
  return {mean, squares / (n - 1) / n, n * cubes / ((n - 1) * (n - 2)) / (n * n)};
}

/// Welch's t of candidate minus baseline, and the skewness of what it estimates.
struct Studentised {
  double t = 0;
  double skew = 0;
};

Studentised studentised(const Sums& a, double n_a, const Sums& b, double n_b) {
  const Cumulants of_a = cumulants(a, n_a);
  const Cumulants of_b = cumulants(b, n_b);
  const double error = std::sqrt(of_a.variance_of_mean + of_b.variance_of_mean);
  const double difference = of_b.mean - of_a.mean;
  if (error < kSameMean) return {difference == 0 ? 0 : std::copysign(1 / kSameMean, difference), 0};
  return {difference / error, (of_b.third_of_mean - of_a.third_of_mean) / (error * error * error)};
}

/// Welch's t, or Hall's transformation of it where that is nearer to zero; zero where they
/// contradict each other.
double statistic(const Studentised& of) {
  const double t = of.t;
  const double skew = of.skew;
  const double hall = t + skew / 3 * t * t + skew * skew / 27 * t * t * t + skew / 6;
  if ((t > 0) != (hall > 0)) return 0;
  return std::abs(hall) < std::abs(t) ? hall : t;
}

void deal_powers(std::span<const double> values, std::size_t from, int left, const Sums& sum,
                 std::vector<Sums>& deals) {
  if (left == 0) {
    deals.push_back(sum);
    return;
  }
  for (std::size_t i = from; i + static_cast<std::size_t>(left) <= values.size(); ++i) {
    Sums next = sum;
    next += powers(values[i]);
    deal_powers(values, i + 1, left - 1, next, deals);
  }
}

/// Values without the effect of their place, in units of their spread around their mean, so that
/// sums of cubes lose no digits. Empty where nothing varies.
std::vector<double> standardised(std::span<const PlacedValue> values, double place_effect) {
  std::vector<double> levels;
  double mean = 0;
  for (const PlacedValue& value : values) {
    levels.push_back(value.value - place_effect * value.side);
    mean += levels.back() / static_cast<double>(values.size());
  }
  double widest = 0;
  for (double& level : levels) widest = std::max(widest, std::abs(level -= mean));
  if (!(widest > 0) || !std::isfinite(widest)) return {};
  for (double& level : levels) level /= widest;
  return levels;
}

class DealtMeans {
 public:
  DealtMeans(std::span<const PlacedValue> values, std::span<const double> levels) {
    for (const std::vector<std::size_t>& superblock : superblocks_of(values)) {
      std::vector<double> own;
      int candidates = 0;
      for (const std::size_t i : superblock) {
        own.push_back(levels[i]);
        total_ += powers(levels[i]);
        if (!values[i].candidate) continue;
        ++candidates;
        seen_ += powers(levels[i]);
      }
      n_b_ += candidates;
      n_a_ += static_cast<double>(own.size()) - candidates;
      deals_.emplace_back();
      deal_powers(own, 0, candidates, {}, deals_.back());
    }
  }

  [[nodiscard]] double observed() const { return statistic(of(seen_)); }
  [[nodiscard]] double welch() const { return of(seen_).t; }

  [[nodiscard]] double p() const {
    std::size_t count = 1;
    for (const auto& superblock : deals_)
      count = std::min(kMostMeanDeals + 1, count * superblock.size());
    return count <= kMostMeanDeals ? enumerated(count) : drawn();
  }

 private:
  [[nodiscard]] Studentised of(const Sums& candidate) const {
    return studentised(total_ - candidate, n_a_, candidate, n_b_);
  }

  [[nodiscard]] bool reaches(const Sums& candidate) const {
    return std::abs(statistic(of(candidate))) >= std::abs(observed()) * (1 - kSameMean);
  }

  [[nodiscard]] double enumerated(std::size_t count) const {
    std::size_t reached = 0;
    for (std::size_t number = 0; number < count; ++number) {
      std::size_t rest = number;
      Sums candidate;
      for (const auto& superblock : deals_) {
        candidate += superblock[rest % superblock.size()];
        rest /= superblock.size();
      }
      reached += static_cast<std::size_t>(reaches(candidate));
    }
    return static_cast<double>(reached) / static_cast<double>(count);
  }

  [[nodiscard]] double drawn() const {
    Random random(1);
    std::size_t reached = 1;  // the deal that was made
    for (std::size_t draw = 1; draw < kMostMeanDeals; ++draw) {
      Sums candidate;
      for (const auto& superblock : deals_)
        candidate += superblock[random.below(superblock.size())];
      reached += static_cast<std::size_t>(reaches(candidate));
    }
    return static_cast<double>(reached) / static_cast<double>(kMostMeanDeals);
  }

  Sums total_;
  Sums seen_;
  double n_a_ = 0;
  double n_b_ = 0;
  std::vector<std::vector<Sums>> deals_;
};

std::vector<PlacedValue> distances(std::span<const PlacedValue> values) {
  std::vector<double> arms[2];
  for (const PlacedValue& value : values) arms[value.candidate ? 1 : 0].push_back(value.value);
  const double centers[2] = {median(arms[0]), median(arms[1])};
  std::vector<PlacedValue> far(values.begin(), values.end());
  for (PlacedValue& value : far)
    value.value = std::abs(value.value - centers[value.candidate ? 1 : 0]);
  return far;
}

/// Standard deviations by which the candidate's distances rank above the baseline's.
double spread_z(std::span<const PlacedValue> values) {
  const std::vector<PlacedValue> far = distances(values);
  double above = 0;
  double n_b = 0;
  for (const PlacedValue& b : far) {
    if (!b.candidate) continue;
    ++n_b;
    for (const PlacedValue& a : far)
      if (!a.candidate) above += b.value > a.value ? 1 : b.value == a.value ? 0.5 : 0;
  }
  const double n_a = static_cast<double>(far.size()) - n_b;
  return (above - n_a * n_b / 2) / std::sqrt(n_a * n_b * (n_a + n_b + 1) / 12);
}

/// Could a few missing large values have made the difference? As measured: the effect of the places
/// is known without the arms' difference only where there is none.
bool may_miss_large_values(std::span<const PlacedValue> values, double t) {
  const double spread = spread_z(values);
  const bool lower_is_wider = (t < 0 && spread > kMoreSpread) || (t > 0 && spread < -kMoreSpread);
  return lower_is_wider &&
         std::abs(DealtMeans(values, standardised(values, 0)).welch()) < kBeyondMissingValues;
}

}  // namespace

double mean_p(std::span<const PlacedValue> values) {
  const std::vector<double> levels = standardised(values, position_effect(values).base);
  if (levels.empty()) return 1;
  const DealtMeans means(values, levels);
  const double p = means.p();
  return may_miss_large_values(values, means.observed()) ? std::min(1.0, kSpreadCount * p) : p;
}

double spread_p(std::span<const PlacedValue> values) {
  return SuperblockTest(distances(values)).p_value();
}

}  // namespace memduel
