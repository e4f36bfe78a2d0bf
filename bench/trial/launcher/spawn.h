// Starting a process and learning whether its program runs: a role of a trial, contained by the
// launcher, or a command that is watched, as a shell would start it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "meters/cgroup.h"

namespace memduel {

struct SpawnOptions {
  std::string cwd;                       ///< empty: the caller's
  std::vector<std::string> arguments;    ///< arguments[0] is looked up in the new PATH
  std::vector<std::string> environment;  ///< NAME=VALUE, added to the caller's own
  int output = -1;                       ///< -1: the caller's own, as the next one
  int errors = -1;
  int marks = -1;                ///< -1: none
  std::uint64_t data_limit = 0;  ///< RLIMIT_DATA in bytes; 0: none
};

/// The step that fails where no process can be made.
inline constexpr const char* kStartingAProcess = "starting a process";

struct SpawnResult {
  pid_t pid = 0;              ///< 0 when the process could not be started
  std::int64_t begin_ns = 0;  ///< CLOCK_MONOTONIC right before the program was executed
  std::string step;           ///< what failed
  int error_number = 0;       ///< why
};

/// Forks, executes and returns once the program runs or could not; it runs with no signal blocked.
/// @param container the trial's group that the process joins, in a process group of its own, with
/// nothing to read, until this process ends; null: a shell would start it the same way.
SpawnResult spawn(const SpawnOptions& request, const TrialCgroup* container);

}  // namespace memduel
