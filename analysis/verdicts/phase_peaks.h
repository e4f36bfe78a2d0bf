// The peak of every phase as a metric of its role, so that phases can be compared as trials are.
#pragma once

#include <string>

#include "base/run_data.h"

namespace memduel {

/// The name under which `metric` of a phase stands in phase_peaks.
std::string phase_metric(const std::string& phase, const std::string& metric);

/// The run with one metric per role for every phase: the largest peak of the phase over its rounds,
/// peak_rss_above_idle_bytes where the role has an idle level, else peak_rss_bytes. Rounds and all
/// other metrics are left out.
RunData phase_peaks(const RunData& run);

}  // namespace memduel
