// The role of a fine-tuning workload: one process that fine-tunes several times, each a round.
#pragma once

#include "fl/worker_config.h"

namespace memduel {

/// A fine-tuning whose kappa ends at 0.05 or below is pruned: an exception ends it before it is
/// saved, as in CBraMod's tuner. Writes the last fine-tuning's model. Throws Error.
void run_study(const WorkerConfig& config);

}  // namespace memduel
