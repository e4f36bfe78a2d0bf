#include "experiment/trial/pace.h"

#include <algorithm>

namespace memduel {
namespace {

/// What may be spent at once beyond the share: a start-up that allocates is sampled at full speed.
constexpr std::int64_t kBurstNs = 2'000'000;
constexpr double kStep = 1.25;
constexpr int kQuietSamples = 8;
constexpr double kQuietStretch = 4;

}  // namespace

SamplingPace::SamplingPace(std::int64_t interval_ns, std::int64_t begin_ns)
    : interval_ns_(interval_ns), begin_ns_(begin_ns) {}

std::int64_t SamplingPace::next(std::int64_t now_ns, std::int64_t cpu_ns, bool moved) {
  const double allowed =
      kShare * static_cast<double>(now_ns - begin_ns_) + static_cast<double>(kBurstNs);
  const bool over = static_cast<double>(cpu_ns) > allowed;
  stretch_ = over ? std::min(stretch_ * kStep, kMaxStretch) : std::max(stretch_ / kStep, 1.0);
  quiet_samples_ = moved ? 0 : quiet_samples_ + 1;
  const double quiet = quiet_samples_ > kQuietSamples ? kQuietStretch : 1;
  const double stretch = std::max(stretch_, quiet);
  return now_ns + static_cast<std::int64_t>(static_cast<double>(interval_ns_) * stretch);
}

bool CostlyReadings::affordable(std::int64_t now_ns) const {
  return static_cast<double>(total_ns_ + reserve_ns_) <=
         kShare * static_cast<double>(now_ns - begin_ns_);
}

}  // namespace memduel
