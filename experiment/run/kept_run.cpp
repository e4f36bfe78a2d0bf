#include "experiment/run/kept_run.h"

#include "base/error.h"
#include "experiment/config/job_facts_of.h"

namespace memduel {

RunData read_kept_run(const std::filesystem::path& directory, WithSeries series) {
  RunData run = read_run(directory, series);
  if (!run.job.roles.empty()) return run;
  try {
    run.job = job_facts_of(run.config.at("workload"));
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitCode::io, "the run store is damaged: its config has no workload that is known",
                directory.string());
  }
  return run;
}

}  // namespace memduel
