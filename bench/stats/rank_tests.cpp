// The rank tests of a shift: sign flips, Mann-Whitney, and which of the tests judges.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "stats/trial_order.h"

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

std::vector<double> mann_whitney_cdf(int m, int n) {
  // The number of ways to choose the ranks of the first sample is the Gaussian binomial coefficient
  // of (m + n over m): multiply by (1 - q^(n+i)) and divide by (1 - q^i) for i = 1 … m. Kept as
  // probabilities: each step also divides by (n + i) / i.
  const int top = m * n;
  std::vector<double> f(static_cast<size_t>(top) + 1, 0.0);
  f[0] = 1;
  for (int i = 1; i <= m; ++i) {
    for (int u = top; u >= n + i; --u)
      f[static_cast<size_t>(u)] -= f[static_cast<size_t>(u - n - i)];
    for (int u = i; u <= top; ++u) f[static_cast<size_t>(u)] += f[static_cast<size_t>(u - i)];
    for (double& x : f) x *= static_cast<double>(i) / (n + i);
  }
  double sum = 0;
  for (double& x : f) {
    sum += x;
    x = std::min(sum, 1.0);
  }
  return f;
}

MannWhitney::MannWhitney(std::span<const double> a, std::span<const double> b)
    : differences_(sorted_differences(a, b)),
      cdf_(mann_whitney_cdf(static_cast<int>(a.size()), static_cast<int>(b.size()))) {}

double MannWhitney::p_value() const {
  const auto not_above =
      static_cast<size_t>(std::ranges::upper_bound(differences_, 0.0) - differences_.begin());
  const auto not_below =
      static_cast<size_t>(differences_.end() - std::ranges::lower_bound(differences_, 0.0));
  return std::min(1.0, 2 * cdf_[std::min(not_above, not_below)]);
}

Interval MannWhitney::interval(double alpha) const {
  size_t k = 0;
  while (k < cdf_.size() && 2 * cdf_[k] <= alpha) ++k;
  if (k == 0) return {};
  if (2 * k > differences_.size()) k = (differences_.size() + 1) / 2;
  return {differences_[k - 1], differences_[differences_.size() - k]};
}

namespace {

std::variant<SignFlip, MannWhitney, SwapTest> choose(std::span<const double> a,
                                                     std::span<const double> b, Design design) {
  if (design == Design::paired && a.size() >= static_cast<size_t>(kPairedBlocks)) {
    return SignFlip(a, b);
  }
  return MannWhitney(a, b);
}

}  // namespace

ShiftTest::ShiftTest(std::span<const double> a, std::span<const double> b, Design design)
    : test_(choose(a, b, design)) {}

ShiftTest::ShiftTest(PlacedValues values) : test_(SwapTest(std::move(values))) {}

double ShiftTest::p_value() const {
  return std::visit([](const auto& test) { return test.p_value(); }, test_);
}

Interval ShiftTest::interval(double alpha) const {
  return std::visit([&](const auto& test) { return test.interval(alpha); }, test_);
}

const char* ShiftTest::name() const {
  if (std::holds_alternative<SwapTest>(test_)) return kSuperblocks;
  return std::holds_alternative<SignFlip>(test_) ? kSignFlips : kMannWhitney;
}

double smallest_p(int blocks, Design design) {
  if (design == Design::restricted) {
    double orders = 1;
    for (const int segment : segments_of(blocks)) orders *= accepted_orders(segment);
    return std::min(1.0, 2 / orders);
  }
  if (design == Design::superblocks) {
    const double deals = std::pow(6.0, blocks / 2) * (blocks % 2 == 1 ? 2 : 1);
    return std::min(1.0, 2 / deals);
  }
  if (design == Design::paired && blocks >= kPairedBlocks) return std::ldexp(1.0, 1 - blocks);
  return 2 * mann_whitney_cdf(blocks, blocks).front();
}

}  // namespace memduel
