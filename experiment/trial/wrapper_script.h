// Commands that are scripts whose work another program does, such as pyenv's shims: a role is named
// after the script, and most of what it uses is the program's.
#pragma once

#include <optional>
#include <vector>

#include "base/run_data.h"
#include "experiment/contract/trial_plan.h"
#include "profilers/profile/capture/heap_counters.h"

namespace memduel {

/// A limitation that names the program which a script, the command of `spec`, executed in its own
/// place. Absent if the command is no script, or if its interpreter ran to the end. `images` are
/// those of the role, in the order in which they started.
std::optional<Note> program_behind_script(const ProcessSpec& spec,
                                          const std::vector<HeapCounters>& images);

}  // namespace memduel
