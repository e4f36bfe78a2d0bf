#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "stats/hypothesis_tests.h"

namespace memduel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kExactTrials = 48;  ///< of both arms: 24 blocks
constexpr double kSameRank = 1e-9;
constexpr int kGridBits = 40;

/// What one segment may give to the candidate.
struct DealtSums {
  std::vector<int> sums;  ///< one for each deal
  int smallest = 0;
  int largest = 0;
  double mean = 0;
};

void deal_ranks(const LabelSwaps& swaps, std::span<const int> ranks, DealtSums& dealt) {
  // A deal's sum is looked up by the halves of its labels.
  constexpr int kBits = 8;
  constexpr std::size_t kHalf = std::size_t{1} << kBits;
  const auto table = [&](std::size_t from, std::vector<int>& sums) {
    const std::size_t bits =
        std::min<std::size_t>(kBits, std::max(swaps.values.size(), from) - from);
    sums.assign(std::size_t{1} << bits, 0);
    for (std::size_t labels = 1; labels < sums.size(); ++labels) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(labels)) + from;
      sums[labels] = sums[labels & (labels - 1)] + ranks[swaps.values[bit]];
    }
  };
  thread_local std::vector<int> low;
  thread_local std::vector<int> high;
  table(0, low);
  table(kBits, high);
  dealt.sums.clear();
  std::int64_t total = 0;
  for (const std::uint32_t labels : swaps.deals) {
    dealt.sums.push_back(low[labels & (kHalf - 1)] + high[labels >> kBits & (kHalf - 1)]);
    total += dealt.sums.back();
  }
  const auto [least, most] = std::ranges::minmax_element(dealt.sums);
  dealt.smallest = *least;
  dealt.largest = *most;
  dealt.mean = static_cast<double>(total) / static_cast<double>(dealt.sums.size());
}

/// In how many ways the doubled sums from `smallest` on are dealt. The counts stay below 2^53, so
/// that a p of 0.1 is 0.1.
struct Distribution {
  std::vector<double> ways = {1};
  int smallest = 0;
};

void convolve(const DealtSums& dealt, Distribution& with, std::vector<double>& room) {
  const auto width = static_cast<std::size_t>(dealt.largest - dealt.smallest) + 1;
  thread_local std::vector<double> own;
  own.assign(width, 0.0);
  for (const int sum : dealt.sums) ++own[static_cast<std::size_t>(sum - dealt.smallest)];
  room.assign(with.ways.size() + width - 1, 0.0);
  for (std::size_t k = 0; k < width; ++k) {
    if (own[k] == 0) continue;
    double* target = room.data() + k;
    for (std::size_t i = 0; i < with.ways.size(); ++i) target[i] += own[k] * with.ways[i];
  }
  std::swap(room, with.ways);
  with.smallest += dealt.smallest;
}

/// The share of `rest` plus a deal of the last segment that is so far from the middle.
double tails(const Distribution& rest, const DealtSums& last, double expected, double distance) {
  thread_local std::vector<double> up_to;  // up_to[k]: the ways to the first k sums
  up_to.assign(1, 0.0);
  for (const double ways : rest.ways) up_to.push_back(up_to.back() + ways);
  const auto size = static_cast<double>(rest.ways.size());
  const auto ways_below = [&](double count) {
    return up_to[static_cast<std::size_t>(std::clamp(count, 0.0, size))];
  };
  double so_far = 0;
  for (const int sum : last.sums) {
    const double middle = expected - sum - rest.smallest;
    so_far += ways_below(std::floor(middle - distance + kSameRank) + 1);
    so_far += up_to.back() - ways_below(std::ceil(middle + distance - kSameRank));
  }
  return std::min(1.0, so_far / (up_to.back() * static_cast<double>(last.sums.size())));
}

/// With a continuity correction of half the step of doubled ranks.
double normal_p(double variance, double distance) {
  if (variance == 0) return 1;
  return std::erfc(std::max(0.0, distance - 1) / std::sqrt(2 * variance));
}

double variance_of(const DealtSums& dealt) {
  double squares = 0;
  for (const int sum : dealt.sums) squares += (sum - dealt.mean) * (sum - dealt.mean);
  return squares / static_cast<double>(dealt.sums.size());
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

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 || values[half - 1] == values[half]
             ? values[half]
             : values[half - 1] + (values[half] - values[half - 1]) / 2;
}

}  // namespace

double swapped_rank_p(std::span<const LabelSwaps> swaps, std::span<const int> ranks, int t) {
  thread_local std::vector<DealtSums> dealt;
  dealt.resize(swaps.size());
  double expected = 0;
  std::size_t trials = 0;
  for (std::size_t i = 0; i < swaps.size(); ++i) {
    deal_ranks(swaps[i], ranks, dealt[i]);
    expected += dealt[i].mean;
    trials += swaps[i].values.size();
  }
  const double distance = std::abs(t - expected);
  if (distance < kSameRank || swaps.empty()) return 1;
  if (trials > kExactTrials) {
    double variance = 0;
    for (const DealtSums& segment : dealt) variance += variance_of(segment);
    return normal_p(variance, distance);
  }
  Distribution rest;
  thread_local std::vector<double> room;
  for (std::size_t i = 0; i + 1 < dealt.size(); ++i) convolve(dealt[i], rest, room);
  return tails(rest, dealt.back(), expected, distance);
}

SwapTest::SwapTest(PlacedValues values) : values_(std::move(values)), places_(values_) {
  for (std::size_t i = 0; i < values_.values.size(); ++i)
    (values_.values[i].candidate ? candidate_ : baseline_).push_back(i);
  raw_ = leveled({});
  cleaned_ = leveled(places_.effect());
  estimate_ = raw_.median;
  const std::vector<double> borders = places_.borders();
  // A break counts where its level does, or on its border.
  const auto add = [&](const Level& level, bool cleaned) {
    for (const double at : level.breaks)
      if (std::isfinite(at) && (places_.acts(at) == cleaned)) breaks_.push_back(at);
  };
  add(raw_, false);
  add(cleaned_, true);
  add_breaks_within_arms();
  breaks_.insert(breaks_.end(), borders.begin(), borders.end());
  std::ranges::sort(breaks_);
  breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
  p_.assign(pieces(), -1);
}

void SwapTest::add_breaks_within_arms() {
  for (const auto* arm : {&baseline_, &candidate_})
    for (const std::size_t i : *arm)
      for (const std::size_t j : *arm) {
        const double fall = cleaned_.slope[j] - cleaned_.slope[i];
        if (fall <= kSameRank) continue;
        const double at = on_grid(cleaned_, break_of(cleaned_.level[j], cleaned_.level[i], fall));
        if (std::isfinite(at) && places_.acts(at)) breaks_.push_back(at);
      }
}

SwapTest::Level SwapTest::leveled(const PlaceEffect& effect) const {
  Level made;
  for (const PlacedValue& value : values_.values) {
    made.level.push_back(value.value - effect.base * value.side);
    made.slope.push_back(static_cast<double>(value.candidate) - effect.slope * value.side);
  }
  made.breaks.reserve(candidate_.size() * baseline_.size());
  for (const std::size_t b : candidate_)
    for (const std::size_t a : baseline_)
      made.breaks.push_back(break_of(made.level[b], made.level[a], made.slope[b] - made.slope[a]));
  made.grid = grid_of(made.breaks);
  for (double& x : made.breaks) x = on_grid(made, x);
  made.median = middle_of(made.breaks);
  return made;
}

double SwapTest::on_grid(const Level& level, double shift) {
  if (!std::isfinite(shift) || level.grid == 0) return shift;
  return std::round(shift / level.grid) * level.grid;
}

const SwapTest::Level& SwapTest::level_at(double delta) const {
  return places_.acts(delta) ? cleaned_ : raw_;
}

std::vector<int> SwapTest::ranks_at(double delta) const {
  const Level& at = level_at(delta);
  std::vector<double> shifted(values_.values.size());
  for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] = at.level[i] - delta * at.slope[i];
  std::vector<int> ranks(shifted.size(), 0);
  for (const auto* arm : {&baseline_, &candidate_})
    for (const std::size_t i : *arm)
      for (const std::size_t j : *arm) {
        const bool same =
            shifted[i] == shifted[j] || std::abs(shifted[j] - shifted[i]) <= 2 * at.grid;
        ranks[i] += same ? 1 : 2 * static_cast<int>(shifted[j] < shifted[i]);
      }
  const double* row = at.breaks.data();
  for (const std::size_t b : candidate_) {
    for (const std::size_t a : baseline_) {
      const double level = *row++;
      const int above = static_cast<int>(level > delta) + static_cast<int>(level >= delta);
      ranks[b] += above;
      ranks[a] += 2 - above;
    }
  }
  return ranks;
}

std::size_t SwapTest::piece_of(double delta) const {
  const auto above = std::ranges::lower_bound(breaks_, delta);
  const auto index = static_cast<std::size_t>(above - breaks_.begin());
  return 2 * index + static_cast<std::size_t>(above != breaks_.end() && *above == delta);
}

double SwapTest::shift_in(std::size_t piece) const {
  if (piece % 2 == 1) return breaks_[piece / 2];
  if (piece_of(0) == piece) return 0;
  const std::size_t next = piece / 2;
  if (breaks_.empty()) return 0;
  if (next == 0) return breaks_.front() - 1;
  if (next == breaks_.size()) return breaks_.back() + 1;
  return breaks_[next - 1] + (breaks_[next] - breaks_[next - 1]) / 2;
}

double SwapTest::p_of(std::size_t piece) const {
  if (p_[piece] >= 0) return p_[piece];
  const std::vector<int> ranks = ranks_at(shift_in(piece));
  int t = 0;
  // Values that no swap moves give the same to every deal.
  for (const LabelSwaps& segment : values_.swaps)
    for (const std::size_t i : segment.values)
      if (values_.values[i].candidate) t += ranks[i];
  return p_[piece] = swapped_rank_p(values_.swaps, ranks, t);
}

Interval SwapTest::interval(double alpha) const {
  if (breaks_.empty()) return {};
  // p ripples by a few ranks and jumps at the borders of the places' effect: no bisection.
  std::size_t low = 0;
  std::size_t high = pieces() - 1;
  while (low < high && p_of(low) <= alpha) ++low;
  while (high > low && p_of(high) <= alpha) --high;
  if (low == high && p_of(low) <= alpha) low = high = likeliest(0, pieces() - 1);
  Interval hull;
  // An open piece reaches to the breaks beside it, and the hull is closed.
  if (low > 0) hull.low = breaks_[(low - 1) / 2];
  if (high + 1 < pieces()) hull.high = breaks_[high / 2];
  return hull;
}

std::size_t SwapTest::likeliest(std::size_t first, std::size_t last) const {
  std::size_t best = first;
  for (std::size_t k = first; k <= last; ++k)
    if (p_of(k) > p_of(best)) best = k;
  return best;
}

double SwapTest::p_value() const {
  // The hull holds 0 while p is larger than the level at 0 or on both sides of it. On a break the
  // stretches beside it touch 0.
  const std::size_t zero = piece_of(0);
  const std::size_t touching = zero % 2;
  const auto below = [&] { return p_of(likeliest(0, zero + touching)); };
  const auto above = [&] { return p_of(likeliest(zero - touching, pieces() - 1)); };
  // The side of the estimate rarely decides.
  const std::size_t middle = piece_of(estimate_);
  const double farther = middle < zero ? above() : below();
  if (farther <= p_of(middle)) return farther;
  return std::min(farther, middle < zero ? below() : above());
}

}  // namespace memduel
