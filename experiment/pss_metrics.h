// PSS readings as metrics of rounds: they are rationed, so most rounds may have none.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/run_data.h"
#include "experiment/trial_trace.h"

namespace memduel {

/// Adds to `data` what `bytes_of` finds in each sweep: the series `pss_bytes`, peak_pss_bytes, and
/// end_pss_bytes to the round that had ended last when a sweep ran outside rounds; the trial's
/// end_pss_bytes is the last round's, absent when that round has none.
void add_pss(RoleData& data, const std::vector<PssSweep>& sweeps,
             const std::function<std::optional<double>(const PssSweep&)>& bytes_of);

}  // namespace memduel
