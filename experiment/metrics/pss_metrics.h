// PSS readings as metrics of rounds: they are rationed, so most rounds may have none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/run_data.h"
#include "experiment/contract/trial_trace.h"

namespace memduel {

/// Readings cost 9 ms per 300 MB: one shortly before a round's end stands for the end itself.
inline constexpr std::int64_t kNearEndNs = 100'000'000;

/// Adds to `data` what `bytes_of` finds in each sweep: the series `pss_bytes`, peak_pss_bytes, and
/// end_pss_bytes to the round that had ended last when a sweep ran outside rounds, or ended at most
/// kNearEndNs later; the trial's end_pss_bytes is the last round's, absent when that round has
/// none.
void add_pss(RoleData& data, const std::vector<PssSweep>& sweeps,
             const std::function<std::optional<double>(const PssSweep&)>& bytes_of);

/// Takes peak_pss_bytes away where no reading was near the peak: where the resident set, by `rss`,
/// was then more than a twentieth below its own peak, or where anonymous memory alone was more.
void keep_pss_of_the_peak(RoleData& data, const Series& rss);

}  // namespace memduel
