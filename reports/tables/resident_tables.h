// Whose the resident memory of a role is near its peak, and the way from the baseline's to a
// candidate's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// The owner of what a role's measured peak has beyond its snapshots.
inline constexpr const char* kElsewhere = "elsewhere";
/// The owner of what a sum of resident sets has of pages that several processes map.
inline constexpr const char* kCountedAgain = "counted-again";

/// What an owner has in both arms.
struct OwnerRow {
  std::string owner;
  std::string words;  ///< what the owner is
  double baseline_bytes = 0;
  double candidate_bytes = 0;
};

/// A bar of the waterfall: a stack of an owner, or the rest of one.
struct WaterfallStep {
  std::string owner;     ///< empty: of all owners that have no bar of their own
  std::string function;  ///< that tells most, short; empty for the rest of the owner
  std::string caller;
  /// "freed, kept by malloc in arenas of threads", "State::clone for aggregate (live blocks)".
  std::string words;
  std::vector<std::string> stack;  ///< outermost first, beginning with its owner
  double size = 0;                 ///< candidate minus baseline, in bytes
  std::string amount;              ///< the same in words: "−4.0 MiB"
};

struct ResidentTable {
  std::string candidate;
  std::string role;
  std::string title;
  double baseline_bytes = 0;
  double candidate_bytes = 0;
  std::vector<OwnerRow> owners;      ///< in the order of PageOwner
  std::vector<OwnerRow> told;        ///< bytes that the program tells by name: part of no sum
  std::vector<WaterfallStep> steps;  ///< sum up to the difference; less memory first
  std::vector<std::string> remarks;  ///< where the snapshots were taken, and how near the peak
};

/// Of the roles that gates ask about, the best candidate's first; of many roles those that changed
/// most. Empty without snapshots of both sides.
std::vector<ResidentTable> resident_tables(const Results& results);

/// Of `role`, or of the one that changed most of those for which it stands. Absent without
/// snapshots of both sides.
std::optional<ResidentTable> resident_table_for(const Results& results,
                                                const std::string& candidate,
                                                const std::string& role);

}  // namespace memduel
