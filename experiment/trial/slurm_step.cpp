#include "experiment/trial/slurm_step.h"

#include <cstdlib>
#include <sstream>

#include "base/capture.h"
#include "base/error.h"

namespace memduel {

void terminate_slurm_step(const std::string& name) {
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr) return;
  try {
    std::istringstream steps(
        capture({"squeue", "--steps", "--noheader", std::string("--jobs=") + job, "--format=%i|%j"})
            .out);
    for (std::string line; std::getline(steps, line);)
      if (const std::size_t bar = line.find('|');
          bar != std::string::npos && line.substr(bar + 1) == name)
        capture({"scancel", "--signal=TERM", line.substr(0, bar)});
  } catch (const Error&) {
    // Its grace ends, and srun is killed, which ends the step.
  }
}

}  // namespace memduel
