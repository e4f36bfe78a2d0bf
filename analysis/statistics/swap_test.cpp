#include "analysis/statistics/swap_test.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

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

/// Where the doubled sums lie: the shares from `smallest` on.
struct Distribution {
  std::vector<double> share = {1};
  int smallest = 0;
};

void convolve(const DealtSums& dealt, Distribution& with, std::vector<double>& room) {
  const auto width = static_cast<std::size_t>(dealt.largest - dealt.smallest) + 1;
  thread_local std::vector<double> own;
  own.assign(width, 0.0);
  for (const int sum : dealt.sums)
    own[static_cast<std::size_t>(sum - dealt.smallest)] +=
        1.0 / static_cast<double>(dealt.sums.size());
  room.assign(with.share.size() + width - 1, 0.0);
  for (std::size_t k = 0; k < width; ++k) {
    if (own[k] == 0) continue;
    double* target = room.data() + k;
    for (std::size_t i = 0; i < with.share.size(); ++i) target[i] += own[k] * with.share[i];
  }
  std::swap(room, with.share);
  with.smallest += dealt.smallest;
}

/// The share of `rest` plus a deal of the last segment that is so far from the middle.
double tails(const Distribution& rest, const DealtSums& last, double expected, double distance) {
  thread_local std::vector<double> up_to;  // up_to[k]: the share of the first k sums
  up_to.assign(1, 0.0);
  for (const double share : rest.share) up_to.push_back(up_to.back() + share);
  const auto size = static_cast<double>(rest.share.size());
  const auto share_below = [&](double count) {
    return up_to[static_cast<std::size_t>(std::clamp(count, 0.0, size))];
  };
  double p = 0;
  for (const int sum : last.sums) {
    const double middle = expected - sum - rest.smallest;
    p += share_below(std::floor(middle - distance + kSameRank) + 1);
    p += up_to.back() - share_below(std::ceil(middle + distance - kSameRank));
  }
  return std::min(1.0, p / static_cast<double>(last.sums.size()));
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

/// p falls with the distance from the estimate but for ripples of a few ranks: so many pieces
/// beyond a crossing are looked at. All of them up to ten blocks.
std::size_t pieces_beyond(std::size_t trials) {
  return trials <= 20 ? std::numeric_limits<std::size_t>::max() / 2 : trials;
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
  breaks_.insert(breaks_.end(), borders.begin(), borders.end());
  std::ranges::sort(breaks_);
  breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
  p_.assign(pieces(), -1);
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
  for (double& x : made.breaks)
    if (std::isfinite(x) && made.grid > 0) x = std::round(x / made.grid) * made.grid;
  made.median = middle_of(made.breaks);
  return made;
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

std::size_t SwapTest::last_above(double alpha, int step) const {
  std::size_t inside = piece_of(estimate_);
  if (p_of(inside) <= alpha) {
    // Only where the places' effect is taken out, the estimate is unbounded, or nothing exceeds.
    for (std::size_t k = 0; k < pieces(); ++k)
      if (p_of(k) > p_of(inside)) inside = k;
    if (p_of(inside) <= alpha) return inside;
  }
  std::size_t outside = step > 0 ? pieces() - 1 : 0;
  if (p_of(outside) > alpha) return outside;
  std::size_t low = inside;
  while (low != outside && low + static_cast<std::size_t>(step) != outside) {
    const std::size_t half =
        low < outside ? low + (outside - low) / 2 : outside + (low - outside) / 2;
    if (half == low) break;
    (p_of(half) > alpha ? low : outside) = half;
  }
  std::size_t last = low;
  const std::size_t far = pieces_beyond(values_.values.size());
  std::size_t seen = 0;
  for (std::size_t k = last; k != (step > 0 ? pieces() - 1 : 0) && seen < far; ++seen) {
    k += static_cast<std::size_t>(step);
    if (p_of(k) <= alpha) continue;
    last = k;
    seen = 0;
  }
  return last;
}

Interval SwapTest::interval(double alpha) const {
  if (breaks_.empty()) return {};
  const std::size_t low = last_above(alpha, -1);
  const std::size_t high = last_above(alpha, 1);
  Interval hull;
  // An open piece reaches to the breaks beside it, and the hull is closed.
  if (low > 0) hull.low = breaks_[(low - 1) / 2];
  if (high + 1 < pieces()) hull.high = breaks_[high / 2];
  // The search looks at some pieces only; what it leaves out never contradicts p.
  if (p_value() > alpha) {
    hull.low = std::min(hull.low, 0.0);
    hull.high = std::max(hull.high, 0.0);
  }
  return hull;
}

double SwapTest::p_value() const {
  const std::size_t zero = piece_of(0);
  double at = p_of(zero);
  // On a break the stretches beside it touch 0.
  if (zero % 2 == 1) at = std::max({at, p_of(zero - 1), p_of(zero + 1)});
  const std::size_t far = pieces_beyond(values_.values.size());
  // The hull holds 0 while p is larger than the level somewhere on either side.
  const auto beyond = [&](int step) {
    double largest = at;
    const std::size_t end = step > 0 ? pieces() - 1 : 0;
    std::size_t k = zero;
    for (std::size_t seen = 0; k != end && seen < far; ++seen) {
      k += static_cast<std::size_t>(step);
      largest = std::max(largest, p_of(k));
    }
    return largest;
  };
  const std::size_t middle = piece_of(estimate_);
  double below = beyond(-1);
  double above = beyond(1);
  (middle < zero ? below : above) = std::max(middle < zero ? below : above, p_of(middle));
  return std::min(below, above);
}

}  // namespace memduel
