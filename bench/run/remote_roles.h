// Roles on other nodes of a Slurm allocation: srun starts them there, under memduel watch, which
// measures them; what it measured is taken into the trial.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "run/plan.h"
#include "trial/trial_plan.h"
#include "util/process.h"

namespace memduel {

/// What the watch of a role must carry, in its environment and in the run that it leaves.
inline constexpr const char* kNodeToken = "MEMDUEL_NODE_TOKEN";

/// Whether a process of any arm is to run on another node.
bool is_spread(const Experiment& experiment);

/// The nodes of the allocation that this process is in, its own first. Throws Error(cannot_measure)
/// outside of one, and with what scontrol says.
std::vector<SiteNode> nodes_of_allocation(const std::map<std::string, std::string>& environment);

/// {node:ROLE} by ROLE; of a counted one by ROLE-1 and so on, too.
std::map<std::string, std::string> addresses_of_roles(const Variant& arm, const PlanSite& site);

/// Has srun start the processes of other nodes. Throws Error(usage) for a node that there is not,
/// and for an allocator in such a process.
void send_to_nodes(TrialPlan& plan, const PlanSite& site, const std::filesystem::path& trial_dir);

/// Puts what the watch of each remote role left in the place of what was seen of its srun, with
/// times as of this machine, and leaves out the role "all": no machine had all processes. The
/// trial has failed where such a run is missing, carries another token or is of another memduel.
void take_remote_roles(const TrialPlan& plan, TrialRun& run);

}  // namespace memduel
