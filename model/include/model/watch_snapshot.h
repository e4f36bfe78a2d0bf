// What is known of a job while it runs, and what a round left behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/run_data.h"

namespace memduel {

/// The resident set at the end of a round.
struct RoundEnd {
  int round = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double rss_bytes = 0;
  std::optional<double> heap_bytes = std::nullopt;  ///< live at the end of the round
  std::optional<double> file_bytes = std::nullopt;  ///< of rss_bytes: pages of mapped files
};

/// One role of a watch, with its descendants.
struct WatchedNow {
  std::string role;
  std::size_t processes = 0;                   ///< 0 of a role that has ended
  std::optional<std::int64_t> rss_bytes;       ///< absent of a role that has ended
  std::optional<std::int64_t> pss_bytes;       ///< as last read, likewise
  std::optional<std::int64_t> peak_rss_bytes;  ///< as in WatchSnapshot
};

/// What a watch knows at one moment: filled by bench/trial, judged by growth_now, shown by
/// reports/.
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
  std::vector<WatchedNow> roles;
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

}  // namespace memduel
