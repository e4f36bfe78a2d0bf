#include "experiment/supervisor.h"

#include "base/error.h"
#include "experiment/plan_check.h"
#include "experiment/supervision.h"

namespace memduel {

std::filesystem::path find_launcher() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto launcher = self.parent_path() / "memduel-launcher";
  if (error || !std::filesystem::exists(launcher, error)) {
    throw Error(ExitCode::io, "memduel-launcher is not there", launcher.string(),
                "build or install it beside memduel");
  }
  return launcher;
}

TrialRun run_trial(const TrialPlan& plan, const SupervisorOptions& options) {
  check_plan(plan);
  return Supervision(plan, options).run();
}

}  // namespace memduel
