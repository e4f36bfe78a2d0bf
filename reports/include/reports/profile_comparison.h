// Two profiles, of which one is the baseline: their totals and the stacks that have more or less,
// as text and as JSON.
//
// JSON, schema "memduel.profile_comparison/1": `baseline` and `candidate` (`file`, `profiler`,
// `counting`, `notes`), `unit` of the stacks' amounts (bytes, nanoseconds or samples), `warnings`,
// `totals` (`metric`, `baseline`, `candidate`, `change`, `half_width` of the change's 95% CI or
// null), and `difference_totals` and `differences` as in results.json: of each kind and heap the
// amounts of both profiles and how many stacks differ, and the stacks that differ most. Their keys
// end in the unit.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profile/difference.h"
#include "profile/outputs.h"
#include "profile/profile.h"

namespace memduel {

inline constexpr const char* kProfileComparisonSchema = "memduel.profile_comparison/1";

/// A profile that is compared, without its stacks.
struct ComparedProfile {
  std::string file;
  std::string profiler;
  std::string counting;  ///< see counting_of()
  std::vector<std::string> notes;
};

/// A number that both profiles have.
struct ProfileTotal {
  std::string metric;  ///< "peak_heap_bytes"
  double baseline = 0;
  double candidate = 0;
  double half_width = 0;  ///< of the 95% CI of the change; 0: both are exact

  [[nodiscard]] double change() const { return candidate - baseline; }
};

struct ProfileComparison {
  ComparedProfile baseline;
  ComparedProfile candidate;
  ProfileUnit unit = ProfileUnit::bytes;
  bool has_counters = false;         ///< the totals are those of the counters of memduel's recorder
  bool counted = false;              ///< both profiles have the number of allocations
  std::string within;                ///< how exact the counters are, in words; empty: to the byte
  bool sampled = false;              ///< amounts of stacks are estimates, of at least one profile
  std::string warning;               ///< see Comparability
  std::vector<ProfileTotal> totals;  ///< the one that matters most comes first
  std::vector<ProfileDifference> differences;  ///< of the kinds that both profiles have
};

/// `files` are the two files, the baseline's first, for people. Counters are compared if both
/// profiles have them, else the sums of their stacks. Throws Error(usage) as comparability_of().
ProfileComparison compare_profiles(Profile baseline, Profile candidate,
                                   const std::array<std::string, 2>& files,
                                   const SourceRoots& roots = {});

/// Its first line has the change of the first total. Stacks that read the same are one. Ends with a
/// newline.
std::string comparison_text(const ProfileComparison& comparison, const SummaryOptions& options);

/// At most `stacks` of each kind and heap.
nlohmann::json comparison_json(const ProfileComparison& comparison, std::size_t stacks);

}  // namespace memduel
