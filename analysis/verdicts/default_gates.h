// The gates that apply when nobody named one.
#pragma once

#include <optional>
#include <vector>

#include "analysis/verdicts/gate_grammar.h"
#include "base/run_data.h"

namespace memduel {

/// Each row's own margin is its bound.
std::vector<Gate> default_gates(const JobFacts& job);

/// The sum of a job's resident sets counts a page once for each process that has it, and not at all
/// where none has: files in a tmpfs, shared memory that nobody maps.
struct MisleadingSum {
  enum class How { counts_again, leaves_out };
  How how;
  double bytes = 0;  ///< the most of any arm
  RoleMetric asked;  ///< in its place
};

/// Absent where no arm's sum is far from what the job holds, or nothing measured that.
std::optional<MisleadingSum> misleading_sum(const RunData& run);

/// Whether the sum is among these.
bool ask_for_the_sum(const std::vector<Gate>& gates);

/// The same of the job that ran: how far the sum is from what it holds is known then.
std::vector<Gate> default_gates(const RunData& run);

}  // namespace memduel
