// The composition of the largest total so far, without a copy of everything at each new maximum
// (after memray's HighWaterMarkAggregator): a maximum is real only when the total falls after it,
// so a peak is numbered at the falling edge, and each site folds its amount lazily when it next
// changes. O(1) per change, memory in the number of sites.
#pragma once

#include <cstdint>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

class PeakTracker {
 public:
  /// A new stretch of time begins; what is live now is its first candidate.
  void restart(const Estimate& total);

  /// Before site `site`, which holds `current`, changes.
  void before_change(std::uint32_t site, const Estimate& current, bool falling);
  /// After the change; `total` is over all sites.
  void after_change(const Estimate& total);

  [[nodiscard]] const Estimate& peak() const { return peak_; }

  /// What was live at the peak; `current` holds what is live now, by site.
  [[nodiscard]] LiveSites at_peak(const std::vector<Estimate>& current) const;

 private:
  struct Folded {
    std::uint64_t number = 0;
    Estimate amount;
  };
  std::vector<Folded> folded_;
  std::uint64_t number_ = 1;
  bool rising_ = true;
  Estimate peak_;
};

}  // namespace memduel
