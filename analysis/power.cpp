#include "analysis/power.h"

#include <algorithm>
#include <cmath>

#include "analysis/hodges_lehmann.h"

namespace memduel {
namespace {

constexpr int kMostBlocks = 1000;

/// The sign-flip interval by bisection over the sorted differences: a few evaluations in place of
/// all. p need not be monotone in the shift, so an end may fall on another crossing than the
/// hull's; for planning that does not matter.
class QuickSignFlip {
 public:
  QuickSignFlip(std::span<const double> a, std::span<const double> b)
      : n_(a.size()), matrix_(n_ * n_), within_(n_) {
    for (size_t j = 0; j < n_; ++j) {
      for (size_t i = 0; i < n_; ++i) matrix_[j * n_ + i] = b[j] - a[i];
    }
    for (size_t i = 0; i < n_; ++i) {
      int rank = 0;
      for (size_t j = 0; j < n_; ++j) {
        rank += static_cast<int>(b[j] < b[i]) + static_cast<int>(b[j] <= b[i]);
        rank -= static_cast<int>(a[j] < a[i]) + static_cast<int>(a[j] <= a[i]);
      }
      within_[i] = rank;
    }
    sorted_ = matrix_;
    std::sort(sorted_.begin(), sorted_.end());
    d_.resize(n_);
  }

  Interval interval(double alpha) {
    const size_t middle = sorted_.size() / 2;
    return {end(0, middle, alpha), end(sorted_.size() - 1, middle, alpha)};
  }

 private:
  /// The break nearest to `outer` beyond which p <= alpha, between it and `inner`, where p is
  /// large.
  double end(size_t outer, size_t inner, double alpha) {
    while (outer != inner && outer + 1 != inner && inner + 1 != outer) {
      const size_t half = (outer + inner) / 2;
      (p_at(sorted_[half]) > alpha ? inner : outer) = half;
    }
    return sorted_[outer];
  }

  double p_at(double delta) {
    int t = 0;
    std::vector<int>& d = d_;
    std::copy(within_.begin(), within_.end(), d.begin());
    for (size_t j = 0; j < n_; ++j) {
      const double* row = &matrix_[j * n_];
      int above = 0;
      for (size_t i = 0; i < n_; ++i) {
        const int order = static_cast<int>(row[i] > delta) - static_cast<int>(row[i] < delta);
        above += order;
        d[i] += order;
      }
      d[j] += above;
    }
    for (const int x : d) t += x;
    return sign_flip_p(d, t);
  }

  size_t n_;
  std::vector<double> matrix_;
  std::vector<double> sorted_;
  std::vector<int> within_;
  std::vector<int> d_;
};

Interval quick_interval(std::span<const double> a, std::span<const double> b, Design design,
                        double alpha) {
  if (design == Design::paired && a.size() >= static_cast<size_t>(kPairedBlocks)) {
    return QuickSignFlip(a, b).interval(alpha);
  }
  return MannWhitney(a, b).interval(alpha);
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

std::optional<Noise> noise_of(std::span<const double> a, std::span<const double> b) {
  const size_t n = std::min(a.size(), b.size());
  if (n < static_cast<size_t>(kMinimumBlocks) || !all_finite(a) || !all_finite(b)) {
    return std::nullopt;
  }
  Noise noise;
  const double shift = hodges_lehmann_shift(a, b);
  const double center = median({a.begin(), a.end()});
  // A sample's spread about its own centre is smaller than the noise by this factor.
  const double widen = std::sqrt(static_cast<double>(n) / (static_cast<double>(n) - 1));
  for (size_t i = 0; i < n; ++i) {
    noise.a.push_back(widen * (a[i] - center));
    noise.b.push_back(widen * (b[i] - shift - center));
  }
  return noise;
}

double detectable_shift(const Noise& noise, int blocks, Design design, double alpha, int draws,
                        Random& random) {
  const auto n = static_cast<size_t>(blocks);
  std::vector<double> a(n);
  std::vector<double> b(n);
  std::vector<double> ends;
  for (int draw = 0; draw < draws; ++draw) {
    for (size_t i = 0; i < n; ++i) {
      const size_t block = random.below(noise.a.size());
      const bool exchanged = random.coin();
      a[i] = exchanged ? noise.b[block] : noise.a[block];
      b[i] = exchanged ? noise.a[block] : noise.b[block];
    }
    // Moving b by more than -low makes the test reject upwards, by more than high downwards.
    const Interval interval = quick_interval(a, b, design, alpha);
    ends.push_back(-interval.low);
    ends.push_back(interval.high);
  }
  const auto rank = static_cast<std::ptrdiff_t>(
      std::min(ends.size() - 1, static_cast<size_t>(kPower * static_cast<double>(ends.size()))));
  std::nth_element(ends.begin(), ends.begin() + rank, ends.end());
  return std::max(0.0, ends[static_cast<size_t>(rank)]);
}

std::optional<int> blocks_to_settle(double effect, double margin, int blocks,
                                    double detectable_at_alpha, double detectable_at_two_alpha) {
  const double size = std::abs(effect);
  const bool direction = size >= margin;
  const double width = direction ? detectable_at_alpha : detectable_at_two_alpha;
  const double room = direction ? size : margin - size;
  if (room <= 0 || !std::isfinite(width)) return std::nullopt;
  const double needed = std::ceil(blocks * (width / room) * (width / room));
  if (needed > kMostBlocks) return std::nullopt;
  return std::max(blocks + 1, static_cast<int>(needed));
}

}  // namespace memduel
