// An arm lowered to processes, before environments are made equal.
#pragma once

#include "experiment/plan/plan.h"

namespace memduel {

/// One trial of an arm of the laboratory's workloads.
struct ReplayTrial {
  const Experiment& experiment;
  const Arm& arm;
  const PlanSite& site;
  const std::filesystem::path& trial_dir;
  double deadline_seconds;  ///< which the worker is told, too
};

/// Processes of memduel-worker, told what to do by worker.json.
PlannedTrial plan_replay(const ReplayTrial& trial);

/// The job's processes and all else of it, with placeholders replaced.
PlannedTrial plan_command(const Experiment& experiment, const Arm& arm, int block,
                          const std::filesystem::path& trial_dir);

}  // namespace memduel
