#include "profilers/profile/decode/peak_tracker.h"

namespace memduel {

void PeakTracker::restart(const Estimate& total) {
  ++number_;
  rising_ = true;
  peak_ = total;
}

void PeakTracker::before_change(std::uint32_t site, const Estimate& current, bool falling) {
  if (falling && rising_) {
    ++number_;
    rising_ = false;
  }
  if (site >= folded_.size()) folded_.resize(site + 1);
  Folded& folded = folded_[site];
  if (folded.number == number_) return;
  folded = {number_, current};
}

void PeakTracker::after_change(const Estimate& total) {
  if (total.bytes <= peak_.bytes) return;
  peak_ = total;
  rising_ = true;
}

LiveSites PeakTracker::at_peak(const std::vector<Estimate>& current) const {
  LiveSites sites;
  for (std::uint32_t site = 0; site < current.size(); ++site) {
    const bool changed_since = !rising_ && site < folded_.size() && folded_[site].number == number_;
    const Estimate& amount = changed_since ? folded_[site].amount : current[site];
    if (amount.samples > 0) sites.emplace_back(site, amount);
  }
  return sites;
}

}  // namespace memduel
