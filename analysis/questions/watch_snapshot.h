// What a watch knows at one moment: filled by experiment/, judged by growth_now, shown by reports/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/growth/observations.h"
#include "base/run_data.h"

namespace memduel {

struct WatchSnapshot {
  std::string what;  ///< "python3 train.py", "pid 812"
  double elapsed_seconds = 0;
  std::size_t processes = 0;
  std::int64_t samples = 0;  ///< of RSS, so far
  std::optional<std::int64_t> rss_bytes;
  std::optional<std::int64_t> peak_rss_bytes;  ///< sampled, or the kernel's where it is larger
  std::optional<std::int64_t> pss_bytes;       ///< as last read
  std::optional<std::int64_t> peak_pss_bytes;  ///< of those that were read
  std::optional<std::int64_t> rss_at_peak_pss_bytes;  ///< when that was read
  double pss_age_seconds = 0;
  std::optional<int> running_round;
  std::int64_t rounds_ended = 0;
  std::vector<RoundEnd> round_ends;  ///< of the whole tree; of many only every n-th
  Series rss;                        ///< of the whole tree, thinned

  struct Limit {
    std::string of;  ///< "its control group", "this machine"
    double bytes = 0;
    double used_bytes = 0;
    double warn_ratio = 0;
    double critical_ratio = 0;
  };
  std::optional<Limit> limit;
};

/// Slopes so far and where they lead; without a verdict, which needs several runs.
struct GrowthNow {
  std::optional<double> bytes_per_round;
  std::optional<double> bytes_per_minute;
  /// Whether the rounds look like growth that goes on (growth.h), which takes forty after warm-up.
  bool keeps_rising = false;
  /// Until the limit is met at this slope. Absent where it does not keep rising, and beyond ten
  /// times what was seen.
  std::optional<double> rounds_left;
  std::optional<double> minutes_left;
};

GrowthNow growth_now(const WatchSnapshot& snapshot);

}  // namespace memduel
