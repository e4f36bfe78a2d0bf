#include "budget/measured_batch.h"

#include <algorithm>
#include <cmath>

namespace memduel {
namespace {

/// LibTorch takes other convolutions below it.
constexpr std::int64_t kFirstProbe = 16;
constexpr std::int64_t kMostGrowth = 8;
/// Batches that differ by less than one in so many count as one.
constexpr std::int64_t kParts = 16;
constexpr double kSteeper = 1.05;

struct PeakLine {
  double fixed_bytes = 0;
  double sample_bytes = 0;
};

class BatchTrials {
 public:
  BatchTrials(const BatchBounds& bounds, const PeakOfBatch& peak) : bounds_(bounds), peak_(peak) {}

  bool fits(std::int64_t batch) {
    const std::optional<double> bytes = peak_(batch);
    if (bytes)
      peaks_.insert(std::ranges::upper_bound(peaks_, batch, {}, &BatchPeak::batch),
                    {batch, *bytes});
    else
      too_large_ = std::min(too_large_, batch);
    return bytes.has_value();
  }

  /// The next batch that makes a line surer; absent when enough is known.
  [[nodiscard]] std::optional<std::int64_t> next(double budget_bytes) const {
    if (peaks_.empty()) return first();
    const std::int64_t last = largest();
    const double promise = promised(budget_bytes);
    if (peaks_.size() == 1) return beside(last, promise);
    // A line that promises what did not fit is no guide.
    if (promise >= static_cast<double>(too_large_)) return between(last);
    const auto most = static_cast<std::int64_t>(promise);
    if (is_farther(most / 2, last)) return std::min(most / 2, kMostGrowth * last);
    const std::int64_t middle = last + (most - last) / 2;
    if (bends() && is_farther(middle, last)) return middle;
    return std::nullopt;
  }

  /// Half way to the smallest batch that did not fit, while the gap is wide.
  [[nodiscard]] std::optional<std::int64_t> between(std::int64_t last) const {
    const std::int64_t middle = last + (too_large_ - last) / 2;
    if (middle > last && is_farther(too_large_, last)) return middle;
    return std::nullopt;
  }

  /// The largest batch that the line promises, no larger than what was seen to fit where the line
  /// is wrong.
  [[nodiscard]] std::int64_t answer(double budget_bytes) const {
    if (peaks_.empty()) return 0;
    const double promise = promised(budget_bytes);
    return promise < static_cast<double>(too_large_) ? static_cast<std::int64_t>(promise)
                                                     : largest();
  }

  [[nodiscard]] FoundBatch found(std::int64_t batch) const {
    const PeakLine fitted = line();
    const std::int64_t bounded = std::max(batch, bounds_.least);
    return {bounded,
            batch >= bounds_.least,
            peaks_.empty()
                ? 0
                : fitted.fixed_bytes + fitted.sample_bytes * static_cast<double>(bounded),
            fitted.fixed_bytes,
            fitted.sample_bytes,
            peaks_};
  }

  [[nodiscard]] std::int64_t largest() const { return peaks_.empty() ? 0 : peaks_.back().batch; }

 private:
  [[nodiscard]] std::optional<std::int64_t> first() const {
    if (too_large_ <= bounds_.least) return std::nullopt;
    return std::max(bounds_.least, std::min({kFirstProbe, bounds_.most, too_large_ / 2}));
  }

  /// A second batch, larger where it is sure to fit.
  [[nodiscard]] std::optional<std::int64_t> beside(std::int64_t only, double promise) const {
    if (2.0 * static_cast<double>(only) <= promise && 2 * only < too_large_) return 2 * only;
    const std::int64_t below = std::max(only / 2, bounds_.least);
    if (below < std::min(only, too_large_)) return below;
    return std::nullopt;
  }

  /// Whether one more step says more than rounding does.
  static bool is_farther(std::int64_t batch, std::int64_t last) {
    return batch - last > std::max<std::int64_t>(1, last / kParts);
  }

  [[nodiscard]] static double slope(const BatchPeak& from, const BatchPeak& to) {
    return (to.bytes - from.bytes) / static_cast<double>(to.batch - from.batch);
  }

  /// Whether the last step was on a steeper line than those before it: there may be a steeper one.
  [[nodiscard]] bool bends() const {
    const std::size_t count = peaks_.size();
    return count > 2 && slope(peaks_[count - 2], peaks_[count - 1]) >
                            kSteeper * slope(peaks_[count - 3], peaks_[count - 2]);
  }

  /// Through the last two peaks. One alone makes a line through the origin, which is steeper than
  /// the truth.
  [[nodiscard]] PeakLine line() const {
    if (peaks_.empty()) return {};
    const std::size_t count = peaks_.size();
    const BatchPeak& last = peaks_.back();
    const double rise = slope(count > 1 ? peaks_[count - 2] : BatchPeak{}, last);
    return {last.bytes - rise * static_cast<double>(last.batch), rise};
  }

  [[nodiscard]] double promised(double bytes) const {
    const PeakLine fitted = line();
    const auto most = static_cast<double>(bounds_.most);
    if (fitted.sample_bytes <= 0) return most;
    return std::clamp(std::floor((bytes - fitted.fixed_bytes) / fitted.sample_bytes), 0.0, most);
  }

  const BatchBounds& bounds_;
  const PeakOfBatch& peak_;
  std::vector<BatchPeak> peaks_;
  std::int64_t too_large_ = bounds_.most + 1;
};

}  // namespace

FoundBatch measure_batch(double budget_bytes, const BatchBounds& bounds, const PeakOfBatch& peak) {
  BatchTrials trials(bounds, peak);
  while (const std::optional<std::int64_t> next = trials.next(budget_bytes)) trials.fits(*next);
  return trials.found(trials.answer(budget_bytes * (1 - kHeldBack)));
}

FoundBatch search_batch(const BatchBounds& bounds, const PeakOfBatch& peak) {
  BatchTrials trials(bounds, peak);
  std::int64_t batch = bounds.least;
  while (trials.fits(batch) && batch < bounds.most) batch = std::min(2 * batch, bounds.most);
  if (trials.largest() > 0)
    while (const std::optional<std::int64_t> middle = trials.between(trials.largest()))
      trials.fits(*middle);
  return trials.found(trials.largest());
}

}  // namespace memduel
