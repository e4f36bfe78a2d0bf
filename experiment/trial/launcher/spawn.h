// Starts one process of a trial.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "profilers/meters/cgroup.h"

namespace memduel {

struct SpawnRequest {
  std::string role;
  std::string cwd;
  std::vector<std::string> arguments;    ///< arguments[0] is looked up in the new PATH
  std::vector<std::string> environment;  ///< NAME=VALUE, added to the launcher's own
  int output = -1;
  int errors = -1;
  int marks = -1;                ///< -1: none
  std::uint64_t data_limit = 0;  ///< RLIMIT_DATA in bytes; 0: none
};

struct SpawnResult {
  pid_t pid = 0;              ///< 0 when the process could not be started
  std::int64_t begin_ns = 0;  ///< CLOCK_MONOTONIC right before the program was executed
  std::string step;           ///< what failed
  int error_number = 0;       ///< why
};

/// Forks into the trial's group, the working directory and the environment, and executes; returns
/// once the program runs or could not.
SpawnResult spawn(const SpawnRequest& request, const std::string& trial, const TrialCgroup& group);

}  // namespace memduel
