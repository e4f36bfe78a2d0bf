// One function per workload kind: an arm lowered to processes, before environments are made equal.
#pragma once

#include "experiment/plan/plan.h"

namespace memduel {

/// The workloads federated and state-dict: a server and `clients` clients of memduel-worker, told
/// what to do by worker.json.
PlannedTrial plan_federated(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                            const std::filesystem::path& trial_dir);

/// The workload simulation: one process that plays all clients, told likewise.
PlannedTrial plan_simulation(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                             const std::filesystem::path& trial_dir);

/// The workload graph: one process that trains, told likewise. Before each trial the run's file of
/// graphs is made where it is not there yet.
PlannedTrial plan_graph(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                        const std::filesystem::path& trial_dir);

/// The workload eeg: one process that fine-tunes several times, each a round, told likewise.
PlannedTrial plan_eeg(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                      const std::filesystem::path& trial_dir);

/// The processes and all else of the config, with placeholders replaced.
PlannedTrial plan_command(const Experiment& experiment, const Arm& arm, int block,
                          const std::filesystem::path& trial_dir);

}  // namespace memduel
