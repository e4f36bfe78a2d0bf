#include "profilers/readers/timeline.h"

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

}  // namespace memduel
