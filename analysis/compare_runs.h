// Two runs that were measured one after the other: what can still be said, and what cannot.
#pragma once

#include <string>

#include "analysis/analyse.h"

namespace memduel {

/// Arm `arm_a` of run a (then called "A") against arm `arm_b` of run b ("B"), by the unpaired exact
/// test, with a warning that the runs were not interleaved. Throws Error(usage) for an unknown arm
/// and for different workloads. Runs from different machines are compared, but no row gets a
/// verdict.
Results compare_runs(const RunData& a, const std::string& arm_a, const RunData& b,
                     const std::string& arm_b, AnalysisSettings settings);

/// The run behind a results.json, as far as the file holds it (no series, no config).
RunData run_from_results(const Results& results);

}  // namespace memduel
