// A watch for Prometheus.
#pragma once

#include <optional>
#include <string>

#include "model/watch_snapshot.h"

namespace memduel {

/// The snapshot as gauges in the text format of Prometheus, without timestamps, for the textfile
/// collector of node_exporter; it is OpenMetrics 1.0 also. Each gauge has the label `run`, and
/// those of a role the label `role`. Of a watch that is over, the current values are absent and the
/// peaks remain. Sources: prometheus.io, "Exposition formats"; the specification of
/// OpenMetrics 1.0.0.
/// @param end seconds since 1970, of a watch that is over
std::string watch_metrics(const WatchSnapshot& snapshot, const std::string& run,
                          std::optional<double> end = std::nullopt);

}  // namespace memduel
