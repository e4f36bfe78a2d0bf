#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "stats/samples.h"

namespace memduel {
namespace {

constexpr std::size_t kMostMeanDeals = 10000;
constexpr double kSpreadCount = 5;
constexpr double kMoreSpread = 0.8;  ///< standard deviations of the rank sum of distances
constexpr double kSameMean = 1e-9;
/// Of Welch's t. Missing large values make one of this size in 0.5% of duels of six blocks at
/// most: exponential and lognormal arms of up to five times the spread of the other.
constexpr double kBeyondMissingValues = 18;

struct Cumulants {
  double mean = 0;
  double variance_of_mean = 0;
  double third_of_mean = 0;
};

/// Unbiased k-statistics, divided down to those of the mean. Around the mean, so that values far
/// from zero and near to each other lose no digits.
Cumulants cumulants(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  double cubes = 0;
  for (const double value : values) {
    const double away = value - mean;
    squares += away * away;
    cubes += away * away * away;
  }
  return {mean, squares / (n - 1) / n, n * cubes / ((n - 1) * (n - 2)) / (n * n)};
}

/// Welch's t of candidate minus baseline, and the skewness of what it estimates.
struct Studentised {
  double t = 0;
  double skew = 0;
};

Studentised studentised(std::span<const double> a, std::span<const double> b) {
  const Cumulants of_a = cumulants(a);
  const Cumulants of_b = cumulants(b);
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

/// Values without the effect of their place, in units of their spread around their mean. Empty
/// where nothing varies.
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
  DealtMeans(const PlacedValues& values, std::span<const double> levels)
      : swaps_(values.swaps), levels_(levels.begin(), levels.end()) {
    for (const PlacedValue& value : values.values) labels_.push_back(value.candidate);
    seen_ = of(labels_);
  }

  [[nodiscard]] double observed() const { return statistic(seen_); }
  [[nodiscard]] double welch() const { return seen_.t; }

  [[nodiscard]] double p() const {
    std::size_t count = 1;
    for (const LabelSwaps& swaps : swaps_)
      count = std::min(kMostMeanDeals + 1, count * swaps.deals.size());
    return count <= kMostMeanDeals ? enumerated(count) : drawn();
  }

 private:
  [[nodiscard]] Studentised of(const std::vector<bool>& candidate) const {
    thread_local std::vector<double> arms[2];
    for (std::vector<double>& arm : arms) arm.clear();
    for (std::size_t i = 0; i < levels_.size(); ++i)
      arms[candidate[i] ? 1 : 0].push_back(levels_[i]);
    return studentised(arms[0], arms[1]);
  }

  [[nodiscard]] bool reaches(const std::vector<bool>& candidate) const {
    return std::abs(statistic(of(candidate))) >= std::abs(observed()) * (1 - kSameMean);
  }

  static void deal(const LabelSwaps& swaps, std::size_t number, std::vector<bool>& candidate) {
    const std::uint32_t labels = swaps.deals[number];
    for (std::size_t i = 0; i < swaps.values.size(); ++i)
      candidate[swaps.values[i]] = (labels >> i & 1) != 0;
  }

  [[nodiscard]] double enumerated(std::size_t count) const {
    std::size_t reached = 0;
    std::vector<bool> candidate = labels_;
    for (std::size_t number = 0; number < count; ++number) {
      std::size_t rest = number;
      for (const LabelSwaps& swaps : swaps_) {
        deal(swaps, rest % swaps.deals.size(), candidate);
        rest /= swaps.deals.size();
      }
      reached += static_cast<std::size_t>(reaches(candidate));
    }
    return static_cast<double>(reached) / static_cast<double>(count);
  }

  [[nodiscard]] double drawn() const {
    Random random(1);
    std::size_t reached = 1;  // the deal that was made
    std::vector<bool> candidate = labels_;
    for (std::size_t draw = 1; draw < kMostMeanDeals; ++draw) {
      for (const LabelSwaps& swaps : swaps_)
        deal(swaps, random.below(swaps.deals.size()), candidate);
      reached += static_cast<std::size_t>(reaches(candidate));
    }
    return static_cast<double>(reached) / static_cast<double>(kMostMeanDeals);
  }

  std::span<const LabelSwaps> swaps_;
  std::vector<double> levels_;
  std::vector<bool> labels_;
  Studentised seen_;
};

PlacedValues distances(const PlacedValues& values) {
  std::vector<double> arms[2];
  for (const PlacedValue& value : values.values)
    arms[value.candidate ? 1 : 0].push_back(value.value);
  const double centers[2] = {median(arms[0]), median(arms[1])};
  PlacedValues far = values;
  for (PlacedValue& value : far.values)
    value.value = std::abs(value.value - centers[value.candidate ? 1 : 0]);
  return far;
}

/// Standard deviations by which the candidate's distances rank above the baseline's.
double spread_z(const PlacedValues& values) {
  const std::vector<PlacedValue> far = distances(values).values;
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
bool may_miss_large_values(const PlacedValues& values, double t) {
  const double spread = spread_z(values);
  const bool lower_is_wider = (t < 0 && spread > kMoreSpread) || (t > 0 && spread < -kMoreSpread);
  return lower_is_wider && std::abs(DealtMeans(values, standardised(values.values, 0)).welch()) <
                               kBeyondMissingValues;
}

}  // namespace

double mean_p(const PlacedValues& values) {
  const PlaceRule places(values);
  const std::vector<double> levels =
      standardised(values.values, places.acts(0) ? places.effect().base : 0);
  if (levels.empty()) return 1;
  const DealtMeans means(values, levels);
  const double p = means.p();
  return may_miss_large_values(values, means.observed()) ? std::min(1.0, kSpreadCount * p) : p;
}

double spread_p(const PlacedValues& values) {
  return SwapTest(distances(values)).p_value();
}

}  // namespace memduel
