// One simulated row through the code that judges real ones.
#pragma once

#include "analysis/comparison.h"
#include "bench/statistics/noise.h"

namespace memduel::bench {

/// peak_rss_bytes of a session, measured and not yet decided.
MeasuredRow measure(const Session& session);

/// The same, decided alone with the whole level.
MeasuredRow judge(const Session& session);

/// improved or regressed.
bool flagged(const MeasuredRow& row);

}  // namespace memduel::bench
