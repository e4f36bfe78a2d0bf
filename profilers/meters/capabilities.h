// What this machine lets memduel measure: the rows of `memduel doctor`.
#pragma once

#include <string>
#include <vector>

namespace memduel {

struct Capability {
  std::string name;
  bool ok = false;
  std::string detail;  ///< what was found
  std::string advice;  ///< how to get it; empty when ok
};

/// statm, smaps_rollup and peak_reset (VmHWM through clear_refs), each tried on this very process.
std::vector<Capability> meter_capabilities();

}  // namespace memduel
