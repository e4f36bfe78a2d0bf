// What to do about a verdict.
#pragma once

#include <optional>
#include <string>

namespace memduel {

struct ReportModel;

/// One thing to do next.
struct Suggestion {
  std::string sentence;  ///< the evidence, and what to do
  std::string command;   ///< that does it; empty where none does
};

/// For the best candidate, or a run's only arm. What comes first of these: where to begin after a
/// failed gate; an allocator's setting, where it holds much that is free; more blocks for what is
/// not decided, or runs that are more alike; that nothing speaks against it. Absent where none of
/// them applies, and of a run that is still going. Needs the model's headlines and causes.
std::optional<Suggestion> next_step(const ReportModel& model);

}  // namespace memduel
