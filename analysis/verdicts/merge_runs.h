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

/// A run whose arms `a` and `b` are the arm called `arm` (empty: the baseline) of each run. Its
/// trials were not interleaved, and a warning says so; another environment is a second warning.
/// Analyse it with Design::unpaired.
/// Throws Error(usage) when the workloads differ or a run has no such arm.
RunData merge_runs(const RunData& a, const RunData& b, const std::string& arm);

/// What results.json keeps of a run: everything but series and config.
RunData run_from_results(const Results& results);

}  // namespace memduel
