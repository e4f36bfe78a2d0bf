#include "experiment/trial/supervisor.h"

#include "base/error.h"
#include "base/installed.h"
#include "experiment/trial/plan_check.h"
#include "experiment/trial/supervision.h"

namespace memduel {

std::filesystem::path find_launcher() {
  const auto launcher = program_beside("memduel-launcher");
  std::error_code unreadable;
  if (!std::filesystem::exists(launcher, unreadable)) {
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
