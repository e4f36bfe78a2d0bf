// What explains a change, by the profile trials: of the same kind of memory as the metric that
// changed.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// A part of a change that a profile explains.
struct Cause {
  std::string amount;    ///< "−57.1 MiB"
  std::string name;      ///< "State::clone for aggregate (live blocks)"
  bool more = false;     ///< the candidate has more
  std::string function;  ///< short; empty: of many stacks, none of them large
  /// As in ShownCause.
  std::string memory = {};  // NOLINT(readability-redundant-member-init): -Wextra
  std::string caller = {};  // NOLINT(readability-redundant-member-init): -Wextra
  double size = 0;          ///< candidate minus baseline: bytes, of allocations their number
  /// What it explains: "server memory at its peak".
  std::string of = {};    // NOLINT(readability-redundant-member-init): -Wextra
  bool resident = false;  ///< by a snapshot, not by the heap's profile
};

/// Whether a snapshot of resident memory explains the metric: resident memory at its peak.
bool is_resident_peak(const std::string& metric);

/// Three at most, the largest first; what is the rest of an owner comes after all that has a name.
/// Of resident memory by its snapshot, without one by the heap at its peak, which Cause::of then
/// says. Empty where no profile explains the metric, as for memory at the end, which no snapshot
/// shows.
std::vector<Cause> causes_of(const Results& results, const Comparison& row);

/// Whether `causes` say what `shown` said of another metric: the same functions, as much of each.
bool repeat(const std::vector<Cause>& causes, const std::vector<Cause>& shown);

}  // namespace memduel
