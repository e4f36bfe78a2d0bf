// A profile as text: totals, top stacks, sizes, temporary share, rounds, retention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

struct SummaryOptions {
  std::size_t stacks = 10;
  std::size_t frames = 8;   ///< per stack, from the one that tells most outwards
  bool all_frames = false;  ///< also what every program has, innermost first
};

/// One profile of several, in a line.
struct ProfileLine {
  std::string name;  ///< of its file
  std::optional<double> peak_bytes;
  /// Of heap and mappings; of a profile of an earlier version the sum of their peaks.
  std::optional<double> together_peak_bytes;
  std::optional<double> live_bytes;
  std::optional<double> allocated_bytes;
  std::optional<double> allocations;
  std::string top;  ///< the function that most was for
};

/// Block bytes where the profile has exact counters, else what its samples or stacks say.
ProfileLine profile_line(const std::string& name, const Profile& profile);

/// Several profiles side by side, the largest first, by peak heap and mappings.
std::string profile_table(std::vector<ProfileLine> lines);

/// Ends with a newline. Amounts of a sampled profile carry their 95 % interval.
std::string summarize(const Profile& profile, const SummaryOptions& options = {});

}  // namespace memduel
