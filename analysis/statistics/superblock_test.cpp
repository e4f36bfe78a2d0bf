#include "analysis/statistics/superblock_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "analysis/statistics/hodges_lehmann.h"

namespace memduel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kExactTrials = 80;  ///< of both arms: 40 blocks
constexpr double kSameRank = 1e-9;
constexpr int kGridBits = 40;

/// Sums of ranks that one superblock may give to the candidate, with how many deals give each.
struct Deals {
  std::vector<int> sums;
  int smallest = 0;
  int largest = 0;
};

void deal_ranks(std::span<const int> ranks, std::size_t from, int left, int sum, Deals& deals) {
  if (left == 0) {
    deals.sums.push_back(sum);
    return;
  }
  for (std::size_t i = from; i + static_cast<std::size_t>(left) <= ranks.size(); ++i)
    deal_ranks(ranks, i + 1, left - 1, sum + ranks[i], deals);
}

Deals all_deals(const DealtRanks& superblock) {
  Deals deals;
  deal_ranks(superblock.ranks, 0, superblock.candidates, 0, deals);
  const auto [low, high] = std::ranges::minmax_element(deals.sums);
  deals.smallest = *low;
  deals.largest = *high;
  return deals;
}

double expected_sum(const DealtRanks& superblock) {
  const double total = std::accumulate(superblock.ranks.begin(), superblock.ranks.end(), 0.0);
  return total * superblock.candidates / static_cast<double>(superblock.ranks.size());
}

double enumerated_p(std::span<const DealtRanks> superblocks, double distance) {
  // One buffer per thread: this runs some ten thousand times in one analysis.
  thread_local std::vector<double> from;
  thread_local std::vector<double> to;
  from.assign(1, 1.0);
  int smallest = 0;
  double expected = 0;
  for (const DealtRanks& superblock : superblocks) {
    expected += expected_sum(superblock);
    const Deals deals = all_deals(superblock);
    smallest += deals.smallest;
    to.assign(from.size() + static_cast<std::size_t>(deals.largest - deals.smallest), 0.0);
    const double share = 1.0 / static_cast<double>(deals.sums.size());
    for (const int sum : deals.sums) {
      double* target = to.data() + (sum - deals.smallest);
      for (std::size_t k = 0; k < from.size(); ++k) target[k] += share * from[k];
    }
    std::swap(from, to);
  }
  double p = 0;
  for (std::size_t k = 0; k < from.size(); ++k)
    if (std::abs(smallest + static_cast<double>(k) - expected) >= distance - kSameRank)
      p += from[k];
  return std::min(1.0, p);
}

/// With a continuity correction of half the step of doubled ranks.
double normal_p(std::span<const DealtRanks> superblocks, double distance) {
  double variance = 0;
  for (const DealtRanks& superblock : superblocks) {
    const auto m = static_cast<double>(superblock.ranks.size());
    const double k = superblock.candidates;
    if (m < 2) continue;
    const double mean = expected_sum(superblock) / k;
    double squares = 0;
    for (const int rank : superblock.ranks) squares += (rank - mean) * (rank - mean);
    variance += k * (m - k) / (m * (m - 1)) * squares;
  }
  if (variance == 0) return 1;
  return std::erfc(std::max(0.0, distance - 1) / std::sqrt(2 * variance));
}

/// Where the candidate's value and the baseline's are level.
double break_of(double b, double a, double fall) {
  if (a == b) return 0;
  if (fall > kSameRank) return (b - a) / fall;
  return b > a ? kInfinity : -kInfinity;
}

/// Differences that rounding alone tells apart are one: a grid far finer than any measurement.
double grid_of(std::span<const double> differences) {
  double largest = 0;
  for (const double x : differences)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) - kGridBits) : 0;
}

}  // namespace

double dealt_rank_p(std::span<const DealtRanks> superblocks, int t) {
  double expected = 0;
  std::size_t trials = 0;
  for (const DealtRanks& superblock : superblocks) {
    expected += expected_sum(superblock);
    trials += superblock.ranks.size();
  }
  const double distance = std::abs(t - expected);
  if (distance < kSameRank) return 1;
  return trials > kExactTrials ? normal_p(superblocks, distance)
                               : enumerated_p(superblocks, distance);
}

SuperblockTest::SuperblockTest(std::vector<PlacedValue> values)
    : values_(std::move(values)), superblocks_(superblocks_of(values_)) {
  const PositionEffect effect = position_effect(values_);
  fixed_within_ = effect.slope == 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const PlacedValue& value = values_[i];
    (value.candidate ? candidate_ : baseline_).push_back(i);
    level_.push_back(value.value - effect.base * value.side);
    slope_.push_back(static_cast<double>(value.candidate) - effect.slope * value.side);
  }
  matrix_.reserve(candidate_.size() * baseline_.size());
  for (const std::size_t b : candidate_)
    for (const std::size_t a : baseline_)
      matrix_.push_back(break_of(level_[b], level_[a], slope_[b] - slope_[a]));
  grid_ = grid_of(matrix_);
  for (double& x : matrix_)
    if (std::isfinite(x) && grid_ > 0) x = std::round(x / grid_) * grid_;
  breaks_ = matrix_;
  std::ranges::sort(breaks_);
  const std::size_t half = breaks_.size() / 2;
  estimate_ = breaks_.size() % 2 == 1 || breaks_[half - 1] == breaks_[half]
                  ? breaks_[half]
                  : breaks_[half - 1] + (breaks_[half] - breaks_[half - 1]) / 2;
  breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
  std::erase_if(breaks_, [](double x) { return std::isinf(x); });
  p_.assign(pieces(), -1);
  within_.assign(values_.size(), 0);
  if (!fixed_within_) return;
  for (const auto* arm : {&baseline_, &candidate_})
    for (const std::size_t i : *arm)
      for (const std::size_t j : *arm)
        within_[i] += static_cast<int>(level_[j] < level_[i]) + (level_[j] <= level_[i]);
}

std::size_t SuperblockTest::piece_of(double delta) const {
  const auto above = std::ranges::lower_bound(breaks_, delta);
  const auto index = static_cast<std::size_t>(above - breaks_.begin());
  return 2 * index + static_cast<std::size_t>(above != breaks_.end() && *above == delta);
}

double SuperblockTest::shift_in(std::size_t piece) const {
  if (piece % 2 == 1) return breaks_[piece / 2];
  if (piece_of(0) == piece) return 0;
  const std::size_t next = piece / 2;
  if (breaks_.empty()) return 0;
  if (next == 0) return breaks_.front() - 1;
  if (next == breaks_.size()) return breaks_.back() + 1;
  return breaks_[next - 1] + (breaks_[next] - breaks_[next - 1]) / 2;
}

double SuperblockTest::p_at(double delta) const {
  std::vector<int> ranks = within_;
  if (!fixed_within_) {
    std::vector<double> shifted(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) shifted[i] = level_[i] - delta * slope_[i];
    for (const auto* arm : {&baseline_, &candidate_})
      for (const std::size_t i : *arm)
        for (const std::size_t j : *arm)
          ranks[i] += static_cast<int>(shifted[j] < shifted[i] - 2 * grid_) +
                      static_cast<int>(shifted[j] <= shifted[i] + 2 * grid_);
  }
  const double* row = matrix_.data();
  for (const std::size_t b : candidate_) {
    for (const std::size_t a : baseline_) {
      const double at = *row++;
      const int above = static_cast<int>(at > delta) + static_cast<int>(at >= delta);
      ranks[b] += above;
      ranks[a] += 2 - above;
    }
  }
  thread_local std::vector<DealtRanks> dealt;
  dealt.resize(superblocks_.size());
  int t = 0;
  for (std::size_t s = 0; s < superblocks_.size(); ++s) {
    dealt[s].ranks.clear();
    dealt[s].candidates = 0;
    for (const std::size_t i : superblocks_[s]) {
      dealt[s].ranks.push_back(ranks[i]);
      dealt[s].candidates += static_cast<int>(values_[i].candidate);
      if (values_[i].candidate) t += ranks[i];
    }
  }
  return dealt_rank_p(dealt, t);
}

double SuperblockTest::p_of(std::size_t piece) const {
  if (p_[piece] < 0) p_[piece] = p_at(shift_in(piece));
  return p_[piece];
}

namespace {

/// p falls with the distance from the estimate but for ripples of a few ranks: so many pieces
/// beyond a crossing are looked at. All of them up to ten blocks.
std::size_t pieces_beyond(std::size_t trials) {
  return trials <= 20 ? std::numeric_limits<std::size_t>::max() / 2 : trials;
}

}  // namespace

std::size_t SuperblockTest::last_above(double alpha, int step) const {
  std::size_t inside = piece_of(estimate_);
  if (p_of(inside) <= alpha) {
    // Only for a level that nothing exceeds, or where the estimate is unbounded.
    for (std::size_t k = 0; k < pieces(); ++k)
      if (p_of(k) > p_of(inside)) inside = k;
    if (p_of(inside) <= alpha) return inside;
  }
  std::size_t outside = step > 0 ? pieces() - 1 : 0;
  std::size_t last = inside;
  if (p_of(outside) > alpha) return outside;
  std::size_t low = inside;
  while (low != outside && low + static_cast<std::size_t>(step) != outside) {
    const std::size_t half =
        low < outside ? low + (outside - low) / 2 : outside + (low - outside) / 2;
    if (half == low) break;
    (p_of(half) > alpha ? low : outside) = half;
  }
  last = low;
  const std::size_t far = pieces_beyond(values_.size());
  std::size_t seen = 0;
  for (std::size_t k = last; k != (step > 0 ? pieces() - 1 : 0) && seen < far; ++seen) {
    k += static_cast<std::size_t>(step);
    if (p_of(k) <= alpha) continue;
    last = k;
    seen = 0;
  }
  return last;
}

Interval SuperblockTest::interval(double alpha) const {
  if (breaks_.empty()) return {};
  const std::size_t low = last_above(alpha, -1);
  const std::size_t high = last_above(alpha, 1);
  Interval hull;
  // An open piece reaches to the breaks beside it, and the hull is closed.
  if (low > 0) hull.low = breaks_[(low - 1) / 2];
  if (high + 1 < pieces()) hull.high = breaks_[high / 2];
  return hull;
}

double SuperblockTest::p_value() const {
  const std::size_t zero = piece_of(0);
  double p = p_of(zero);
  // On a break the stretches beside it touch 0.
  if (zero % 2 == 1) p = std::max({p, p_of(zero - 1), p_of(zero + 1)});
  // Outwards, away from the estimate.
  const bool above = piece_of(estimate_) < zero;
  const std::size_t end = above ? pieces() - 1 : 0;
  const std::size_t far = pieces_beyond(values_.size());
  std::size_t k = zero;
  for (std::size_t seen = 0; k != end && seen < far; ++seen) {
    k += above ? 1 : static_cast<std::size_t>(-1);
    p = std::max(p, p_of(k));
  }
  return p;
}

}  // namespace memduel
