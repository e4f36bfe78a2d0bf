// What a memduel that was killed left behind: a launcher ends a trial's processes when memduel is
// gone, but both can be killed at once, and builds have no launcher.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "profilers/meters/cgroup.h"

namespace memduel {

struct Leftovers {
  std::vector<pid_t> processes;      ///< of trials and builds whose memduel has ended
  std::vector<TrialCgroup> cgroups;  ///< of such trials

  [[nodiscard]] bool empty() const { return processes.empty() && cgroups.empty(); }
};

/// Finds processes whose environment can be read and cgroups below the caller's own, if their
/// memduel had the caller's user, cache directory and PID namespace.
Leftovers find_leftovers();

/// "2 processes (sleep, cc1plus) and 1 control group".
std::string describe_leftovers(const Leftovers& leftovers);

/// Kills the processes and removes the groups.
void end_leftovers(const Leftovers& leftovers);

}  // namespace memduel
