// What the driver said of device memory, as metrics: peak_gpu_used_bytes, idle_gpu_used_bytes,
// peak_gpu_used_above_idle_bytes, and gpu_used_bytes at round ends.
#pragma once

#include "model/run_data.h"
#include "trial/trial_trace.h"

namespace memduel {

/// Of a role, from samples and what was read at its marks; idle is what it used at its idle mark,
/// its context included. Nothing where the driver named none of its processes.
void add_gpu(RoleData& data, const RoleTrace& trace);

/// Of all devices, other programs included; idle is the first sample, before the trial's processes
/// use the device.
void add_tree_gpu(RoleData& tree, const TrialTrace& trace);

}  // namespace memduel
