#include "experiment/supervision/supervisor.h"

#include "experiment/supervision/supervision.h"
#include "experiment/trial/plan_check.h"

namespace memduel {

TrialRun run_trial(const TrialPlan& plan, const SupervisorOptions& options) {
  check_plan(plan);
  return Supervision(plan, options).run();
}

}  // namespace memduel
