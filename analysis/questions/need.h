// The smallest memory limit under which a program still runs: searched by running it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/values/interval.h"

namespace memduel {

/// How a run under a limit ended.
struct LimitedRun {
  bool failed = false;
  double seconds = 0;
  std::string why = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

struct NeedOptions {
  double most_slowdown = 0.05;  ///< of the median run, as a share
  bool may_slow_down = true;    ///< false: this kind of limit lets a program run or fail
  double precision = 0.02;      ///< of the limit that is found, as a share
  int runs = 3;                 ///< at each limit that is tried
  int confirmations = 20;       ///< at the one that is found
};

struct Need {
  std::int64_t bytes = 0;            ///< the smallest limit that held
  std::int64_t too_little = 0;       ///< the largest that did not; 0: all that were tried held
  std::string why;                   ///< that did not: "killed for memory", "12 % slower"
  int runs = 0;                      ///< at `bytes`, to confirm it
  int failed = 0;                    ///< of them
  Interval failure_rate{0, 1};       ///< Clopper and Pearson, 95 %
  double slowdown = 0;               ///< Hodges and Lehmann's estimate, as a share
  Interval slowdown_interval{0, 0};  ///< 95 %
};

/// Runs the program once: under a limit in bytes.
using RunUnderLimit = std::function<LimitedRun(std::int64_t bytes)>;

/// @param unlimited seconds of runs without a limit, at least three. @param start bytes that a run
/// without a limit was seen to take. Doubles it until a limit holds, halves it until one does not,
/// then divides what lies between. A limit that fails while it is confirmed is raised. Slower
/// counts where it is more than is allowed and more than chance, by ten runs (Mann and Whitney, 1
/// %). Throws Error(cannot_measure) where nothing holds up to 16 times `start`.
Need find_need(const std::vector<double>& unlimited, std::int64_t start, const NeedOptions& options,
               const RunUnderLimit& run);

}  // namespace memduel
