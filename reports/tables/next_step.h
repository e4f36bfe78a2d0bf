// What to do about a verdict.
#pragma once

#include <optional>

#include "analysis/values/results.h"

namespace memduel {

struct ReportModel;

/// The evidence and what to do, and a command that does it or none.
using Suggestion = NextStep;

/// For the best candidate, or a run's only arm. What comes first of these: where to begin after a
/// failed gate; an allocator's setting, where it holds much that is free; more blocks for what is
/// not decided, or runs that are more alike; that nothing speaks against it. Absent where none of
/// them applies, and of a run that is still going. Needs the model's headlines and causes.
std::optional<Suggestion> next_step(const ReportModel& model);

}  // namespace memduel
