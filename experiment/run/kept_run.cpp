#include "experiment/run/kept_run.h"

#include "base/error.h"
#include "experiment/config/expansion.h"

namespace memduel {

RunData read_kept_run(const std::filesystem::path& directory, WithSeries series) {
  RunData run = read_run(directory, series);
  if (!run.job.roles.empty()) return run;
  try {
    run.job = facts_of_workload(run.config.at("workload"), directory.string());
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitCode::io, "the run store is damaged: its config has no workload that is known",
                directory.string());
  }
  return run;
}

}  // namespace memduel
