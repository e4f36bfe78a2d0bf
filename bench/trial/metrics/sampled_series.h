// Series that a meter samples and that a metric is the largest of (MetricInfo::series), and what
// the driver reports of device memory besides: idle_gpu_used_bytes, peak_gpu_used_above_idle_bytes,
// and gpu_used_bytes at round ends.
#pragma once

#include <vector>

#include "model/run_data.h"
#include "trial/trial_trace.h"

namespace memduel {

/// Adds each such series with what was read at marks, and its largest value in the whole life and
/// in each round. Nothing if the meter knew none.
void add_sampled_series(RoleData& data, const Samples& samples,
                        const std::vector<MarkEvent>& marks);

// After the series was added.

/// Of a role; idle is what it used at its idle mark, its context included. Nothing where the driver
/// named none of its processes.
void add_gpu(RoleData& data, const std::vector<MarkEvent>& marks);

/// Of all devices, other programs included; idle is the first sample, before the trial's processes
/// use the device.
void add_tree_gpu(RoleData& tree);

}  // namespace memduel
