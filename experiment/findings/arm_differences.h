// Where the arms of a run differ: the profiles that its profile trials left, stack against stack.
#pragma once

#include <filesystem>
#include <vector>

#include "analysis/values/results.h"
#include "base/run_data.h"

namespace memduel {

struct ArmDifferences {
  std::vector<Difference> differences;  ///< per candidate, role, kind and heap the largest first
  std::vector<DifferenceTotal> totals;
  std::vector<ResidentMemory> resident;  ///< per arm and role that has a snapshot
  std::vector<Note> limitations;         ///< profiles that cannot be read
};

/// Of every candidate that has heap profiles where the baseline has some by the same tracer: by the
/// recorder, else by the first other one. Empty when there are none. Reads the profiles in
/// `run_directory`.
ArmDifferences arm_differences(const std::filesystem::path& run_directory, const RunData& run);

}  // namespace memduel
