// Two runs measured at different times as one, so that they can be compared: with what that cannot
// claim.
#pragma once

#include <string>

#include "analysis/values/results.h"
#include "base/run_data.h"

namespace memduel {

/// Code of the warning that two merged runs come from different environments; analyse() then gives
/// no verdict.
inline constexpr const char* kOtherEnvironment = "other_environment";

/// Of one of the two runs.
struct MergedSide {
  std::string name;  ///< its arm's in the merged run
  /// Where it was read; empty: from nowhere.
  std::string place = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// A run whose two arms are the arm called `arm` (empty: the baseline) of each run. Which one that
/// is, and how the two are compared again, stands in the environment. Its trials were not
/// interleaved, and a warning says so; another environment is a second warning. Where one run has
/// rounds and the other is one round as a whole, what is measured by the round is left out.
/// Analyse it with Design::unpaired.
/// Throws Error(usage) when the workloads differ or a run has no such arm.
RunData merge_runs(const RunData& a, const RunData& b, const std::string& arm,
                   const MergedSide& of_a = {"a"}, const MergedSide& of_b = {"b"});

/// What results.json keeps of a run: everything but series and config.
RunData run_from_results(const Results& results);

}  // namespace memduel
