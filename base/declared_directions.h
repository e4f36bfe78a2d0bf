// Whether higher or lower is better for the metrics that are a run's own: what its config, its log
// patterns and its programs declare, put together.
#pragma once

#include "base/run_data.h"

namespace memduel {

/// Adds to the run's job what the programs of its trials declare. A metric of which two
/// declarations contradict each other is undeclared, with a warning; one of the table keeps the
/// table's direction.
void join_declarations(RunData& run);

/// The declarations of two jobs that are compared, together; a warning for each that contradict.
std::vector<Note> join_declarations(JobFacts& job, const JobFacts& other);

}  // namespace memduel
