// Metrics of a trial from its trace, as the documented names mean them. Pure functions.
#pragma once

#include "base/run_data.h"
#include "experiment/contract/trial_trace.h"

namespace memduel {

/// Rounds, phases and metrics of one role. A role without marks is one round from its start to its
/// end, with peaks from samples and from the kernel's account at exit.
RoleData role_metrics(const RoleTrace& trace, const std::vector<PssSweep>& sweeps);

/// All processes together: peaks are the largest sampled sums. Its rounds are those of `server`, or
/// of the first role. `roles` are the results of role_metrics in the order of trace.roles.
RoleData tree_metrics(const TrialTrace& trace, const std::vector<RoleData>& roles);

}  // namespace memduel
