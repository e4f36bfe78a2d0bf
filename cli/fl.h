// What commands ask memduel-fl, the FL workloads, if it is installed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "meters/meter_registry.h"

namespace memduel::cli {

/// Its path; absent where it is neither beside memduel nor in PATH.
std::optional<std::string> find_fl();

/// What it says of this machine.
struct FlHere {
  std::vector<Capability> rows;
  bool cuda = false;    ///< its worker can use a GPU
  std::string no_cuda;  ///< why not
};

/// Absent where there is no memduel-fl. Throws Error(io) where it does not run, or answers in
/// another form.
std::optional<FlHere> ask_fl_of_machine();

/// Runs its `list KIND` in this process's place. Throws Error(cannot_measure) where there is none.
int list_of_fl(const std::string& kind);

}  // namespace memduel::cli
