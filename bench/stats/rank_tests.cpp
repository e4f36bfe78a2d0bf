#include "analysis/statistics/sign_flip.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace memduel {
namespace {

constexpr size_t kExactTerms = 40;

/// P(negative part <= room), where each |d_i| is in the negative part with probability one half.
double lower_tail(std::span<const int> magnitudes, int room) {
  const size_t size = static_cast<size_t>(room) + 1;
  // One buffer per thread: this runs some hundred thousand times in one analysis.
  thread_local std::vector<double> from;
  thread_local std::vector<double> to;
  from.assign(size, 0.0);
  to.resize(size);
  from[0] = 1;
  for (const int magnitude : magnitudes) {
    const size_t step = std::min(static_cast<size_t>(magnitude), size);
    const double* f = from.data();
    double* g = to.data();
    for (size_t k = 0; k < step; ++k) g[k] = 0.5 * f[k];
    for (size_t k = step; k < size; ++k) g[k] = 0.5 * f[k] + 0.5 * f[k - step];
    std::swap(from, to);
  }
  double sum = 0;
  for (const double x : from) sum += x;
  return sum;
}

/// With the continuity correction of the sums' lattice, whose step is twice the common divisor.
double normal_p(std::span<const int> magnitudes, int t) {
  double variance = 0;
  int divisor = 0;
  for (const int d : magnitudes) {
    variance += static_cast<double>(d) * d;
    divisor = std::gcd(divisor, d);
  }
  return std::erfc(std::max(0, std::abs(t) - divisor) / std::sqrt(2 * variance));
}

/// The ranks of two paired samples while one is shifted: moves over the breaks in ascending order.
class RankSweep {
 public:
  RankSweep(std::span<const double> a, std::span<const double> b)
      : n_(a.size()), rank_difference_(a.size()) {
    for (size_t i = 0; i < n_; ++i) {
      rank_difference_[i] = within(b, b[i]) - within(a, a[i]);
      // Far below every break each b counts as larger than all a.
      rank_difference_[i] += 2 * static_cast<int>(n_);
    }
  }

  /// The pair's b falls from above its a to level with it, or from level to below: half a rank
  /// each.
  void move(size_t a_index, size_t b_index) {
    --rank_difference_[b_index];
    --rank_difference_[a_index];
  }

  [[nodiscard]] double p() const {
    int t = 0;
    for (const int d : rank_difference_) t += d;
    return sign_flip_p(rank_difference_, t);
  }

 private:
  /// Twice the mid-rank of x within its own sample.
  static int within(std::span<const double> sample, double x) {
    int rank = 0;
    for (const double y : sample) rank += y < x ? 2 : static_cast<int>(y == x);
    return rank;
  }

  size_t n_;
  std::vector<int> rank_difference_;
};

struct Pair {
  double difference;
  size_t a;
  size_t b;
};

std::vector<Pair> sorted_pairs(std::span<const double> a, std::span<const double> b) {
  std::vector<Pair> pairs;
  pairs.reserve(a.size() * b.size());
  for (size_t j = 0; j < b.size(); ++j) {
    for (size_t i = 0; i < a.size(); ++i) {
      pairs.push_back({a[i] == b[j] ? 0 : b[j] - a[i], i, j});
    }
  }
  std::ranges::sort(pairs, {}, &Pair::difference);
  return pairs;
}

}  // namespace

double sign_flip_p(std::span<const int> d, int t) {
  if (t == 0) return 1;
  thread_local std::vector<int> magnitudes;
  magnitudes.clear();
  int total = 0;
  bool all_even = true;
  for (const int x : d) {
    if (x == 0) continue;
    magnitudes.push_back(std::abs(x));
    total += std::abs(x);
    all_even = all_even && x % 2 == 0;
  }
  if (magnitudes.size() > kExactTerms) return normal_p(magnitudes, t);
  int room = (total - std::abs(t)) / 2;
  if (all_even) {
    for (int& x : magnitudes) x /= 2;
    room /= 2;
  }
  return std::min(1.0, 2 * lower_tail(magnitudes, room));
}

SignFlip::SignFlip(std::span<const double> a, std::span<const double> b) {
  const std::vector<Pair> pairs = sorted_pairs(a, b);
  RankSweep sweep(a, b);
  size_t k = 0;
  for (; k < pairs.size() && pairs[k].difference == -std::numeric_limits<double>::infinity(); ++k) {
    sweep.move(pairs[k].a, pairs[k].b);
    sweep.move(pairs[k].a, pairs[k].b);
  }
  p_.push_back(sweep.p());
  while (k < pairs.size()) {
    const double at = pairs[k].difference;
    if (std::isinf(at)) break;
    size_t end = k;
    for (; end < pairs.size() && pairs[end].difference == at; ++end) {
      sweep.move(pairs[end].a, pairs[end].b);
    }
    breaks_.push_back(at);
    p_.push_back(sweep.p());
    for (; k < end; ++k) sweep.move(pairs[k].a, pairs[k].b);
    p_.push_back(sweep.p());
  }
  best_up_to_ = p_;
  best_from_ = p_;
  for (size_t i = 1; i < p_.size(); ++i) {
    best_up_to_[i] = std::max(best_up_to_[i], best_up_to_[i - 1]);
    const size_t back = p_.size() - 1 - i;
    best_from_[back] = std::max(best_from_[back], best_from_[back + 1]);
  }
}

double SignFlip::p_value_at(double delta) const {
  const auto above = std::ranges::lower_bound(breaks_, delta);
  const auto index = static_cast<size_t>(above - breaks_.begin());
  const bool on_break = above != breaks_.end() && *above == delta;
  // On a break the neighbouring open stretches touch delta, and the hull is closed.
  const size_t first = 2 * index;
  const size_t last = on_break ? first + 2 : first;
  return std::min(best_up_to_[last], best_from_[first]);
}

Interval SignFlip::interval(double alpha) const {
  Interval hull;
  size_t first = 0;
  while (first < p_.size() && p_[first] <= alpha) ++first;
  if (first == p_.size()) return hull;
  size_t last = p_.size() - 1;
  while (p_[last] <= alpha) --last;
  // Piece 2k is bounded by breaks k-1 and k; piece 2k+1 is break k.
  if (first > 0) hull.low = breaks_[(first - 1) / 2];
  if (last + 1 < p_.size()) hull.high = breaks_[last / 2];
  return hull;
}

}  // namespace memduel
