#include "experiment/trial/slurm_step.h"

#include <cstdlib>
#include <sstream>

#include "base/capture.h"
#include "base/error.h"

namespace memduel {

bool terminate_slurm_step(const std::string& name) {
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr) return false;
  try {
    std::istringstream steps(
        capture({"squeue", "--steps", "--noheader", std::string("--jobs=") + job, "--format=%i|%j"})
            .out);
    for (std::string line; std::getline(steps, line);) {
      const std::size_t bar = line.find('|');
      if (bar == std::string::npos || line.substr(bar + 1) != name) continue;
      capture({"scancel", "--signal=TERM", line.substr(0, bar)});
      return true;
    }
  } catch (const Error&) {
    return false;
  }
  return false;
}

}  // namespace memduel
