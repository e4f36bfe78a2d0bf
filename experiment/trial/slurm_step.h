// A step of the Slurm job that this process is in: a role on another node.
#pragma once

#include <string>

namespace memduel {

/// Sends SIGTERM to the processes of the step of this name. srun, which started it, would send
/// SIGKILL for a SIGTERM of its own. Returns whether there was such a step.
bool terminate_slurm_step(const std::string& name);

}  // namespace memduel
