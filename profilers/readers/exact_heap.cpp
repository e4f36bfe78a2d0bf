#include "exact_heap.h"

namespace memduel {

namespace {

constexpr std::size_t kMostMoments = 1000;

void keep_larger(ProfileMoment& kept, const ProfileMoment& other) {
  if (other.bytes > kept.bytes) kept = other;
}

}  // namespace

void Timeline::add(const ProfileMoment& moment) {
  if (gathered_ > 0 && gathered_ < stride_) {
    keep_larger(moments_.back(), moment);
    ++gathered_;
    return;
  }
  if (moments_.size() == kMostMoments) {
    for (std::size_t i = 0; i < kMostMoments / 2; ++i) {
      moments_[i] = moments_[2 * i];
      keep_larger(moments_[i], moments_[2 * i + 1]);
    }
    moments_.resize(kMostMoments / 2);
    stride_ *= 2;
  }
  moments_.push_back(moment);
  gathered_ = 1;
}

Estimate exact_amount(std::uint64_t bytes, std::uint64_t count) {
  return {static_cast<double>(bytes), static_cast<double>(count), 0,
          static_cast<std::int64_t>(count)};
}

void ExactHeap::fold(Site& site) {
  if (site.peak == peak_number_) return;
  site.peak = peak_number_;
  site.at_peak = site.live;
}

void ExactHeap::add(std::uint32_t number, std::uint64_t bytes) {
  if (number >= sites_.size()) sites_.resize(number + 1);
  Site& site = sites_[number];
  fold(site);
  site.live.bytes += bytes;
  ++site.live.count;
  site.allocated.bytes += bytes;
  ++site.allocated.count;
  live_ += bytes;
  if (live_ > peak_) {
    peak_ = live_;
    rising_ = true;
  }
}

bool ExactHeap::remove(std::uint32_t number, std::uint64_t bytes, bool temporary) {
  if (number >= sites_.size()) return false;
  Site& site = sites_[number];
  if (site.live.count == 0 || site.live.bytes < bytes) return false;
  if (rising_) {
    ++peak_number_;
    rising_ = false;
  }
  fold(site);
  site.live.bytes -= bytes;
  --site.live.count;
  live_ -= bytes;
  if (temporary) {
    site.temporary.bytes += bytes;
    ++site.temporary.count;
  }
  return true;
}

void ExactHeap::finish(Profile& profile) const {
  for (std::uint32_t i = 0; i < sites_.size(); ++i) {
    const Site& from = sites_[i];
    AllocationSite& to = profile.sites[i];
    to.allocated = exact_amount(from.allocated.bytes, from.allocated.count);
    to.live = exact_amount(from.live.bytes, from.live.count);
    to.temporary = exact_amount(from.temporary.bytes, from.temporary.count);
    const bool changed_since = !rising_ && from.peak == peak_number_;
    const Amount& at_peak = changed_since ? from.at_peak : from.live;
    if (at_peak.count == 0) continue;
    const Estimate amount = exact_amount(at_peak.bytes, at_peak.count);
    profile.peak.sites.emplace_back(i, amount);
    profile.peak.total += amount;
  }
}

}  // namespace memduel
