// The peak RSS below which a program cannot be told from an empty one.
#pragma once

#include <cstdint>
#include <optional>

#include "config/experiment.h"
#include "model/run_data.h"
#include "run/plan.h"
#include "run/run.h"

namespace memduel {

inline constexpr const char* kNearFloor = "near_floor";

/// Of small commands: runs an empty program, `true`, in a trial as those of the first command, and
/// compares the peaks. Absent if no command's peak is near the other, if the meter of the heap is
/// not in the commands, if they are jobs of several processes, and if the empty program fails.
/// @param id of that trial. Throws what `run_trial` throws.
std::optional<Note> near_floor(const Experiment& experiment, const RunData& so_far,
                               const PlanSite& site, std::int64_t id, const RunTrial& run_trial);

}  // namespace memduel
