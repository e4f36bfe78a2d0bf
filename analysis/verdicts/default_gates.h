// The gates that apply when nobody named one.
#pragma once

#include <optional>
#include <vector>

#include "analysis/verdicts/gate_grammar.h"
#include "base/run_data.h"

namespace memduel {

/// Each row's own margin is its bound.
std::vector<Gate> default_gates(const JobFacts& job);

/// What to ask of a whole job in place of the sum of its resident sets, in which a page counts once
/// for each process that has it.
struct SharedPages {
  RoleMetric asked;
  double counted_again = 0;  ///< bytes: by the sum, the most of any arm
};

/// Absent where no arm's sum counts much again, or nothing measured what it counts.
std::optional<SharedPages> shared_pages(const RunData& run);

/// Whether the sum is among these.
bool ask_for_the_sum(const std::vector<Gate>& gates);

/// The same of the job that ran: what it shares is known then.
std::vector<Gate> default_gates(const RunData& run);

}  // namespace memduel
