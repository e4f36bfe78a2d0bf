// Runs a short helper program and reads what it prints. Trials run under the supervisor instead.
#pragma once

#include <string>
#include <vector>

namespace memduel {

struct Captured {
  int exit_status = 0;  ///< 128 + signal when ended by one
  std::string out;
  std::string err;
};

/// Runs `argv` (argv[0] is looked up in PATH unless it has a slash) without standard input. Throws
/// Error(io) when it cannot be started, Error(cannot_measure) when it is not done in time; it is
/// killed then.
Captured capture(const std::vector<std::string>& argv, double within_seconds = 60);

}  // namespace memduel
