// Names of metrics as people write them: [ROLE.]METRIC, short, misspelt, or in the words of other
// tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job_facts.h"

namespace memduel {

/// "all.peak_rss_bytes" of "peak_rss". A role may contain dots, and a metric does not. Either is
/// empty where `written` has only a dot in its place.
RoleMetric role_metric_named(std::string_view written);

/// The shortest name that is understood: "peak_rss" of "peak_rss_bytes". A metric without one is
/// returned as it is.
std::string short_name_of_metric(std::string_view metric);

/// The metrics that were meant by a name that none has: one that is near, or those that other
/// tools, or people, call so. Empty if there is none.
std::vector<std::string> meant_metrics(std::string_view name);

/// "did you mean "X"?", or "X" or "Y"; `otherwise` if there is none.
std::string advice_of_meant(const std::vector<std::string>& meant, const std::string& otherwise);

}  // namespace memduel
