// Limits of --limit: gates on a value of the only command, by short names.
#pragma once

#include <string>
#include <string_view>

namespace memduel::cli {

/// "peak_rss<=200MiB" as the gate "all.peak_rss_bytes<=200MiB". Takes a short name, the key of a
/// metric, or ROLE.METRIC. Throws Error(usage) for an unknown metric or role prefix without a
/// metric, another operator, a limit relative to a baseline, and a value that the metric does not
/// take.
std::string gate_of_limit(std::string_view limit);

/// "peak_rss, largest_process, …": the short names.
std::string names_of_limits();

}  // namespace memduel::cli
