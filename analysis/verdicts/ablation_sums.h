// What the effects of all switches come to, and the interaction that is left over. See ablation.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/growth/observations.h"
#include "analysis/values/results.h"

namespace memduel {

/// One metric of one role, for whole trials or in one phase.
struct AblationSubject {
  const JobFacts& job;
  std::string role;
  std::string metric;
  std::optional<std::string> phase;
  std::string key;  ///< the metric's name in `observations`
  const Observations* observations = nullptr;
  const RunOrder* order = nullptr;  ///< of a restricted design
};

/// The effects of switches added to the baseline. `whole` is the candidate against the baseline.
AblationSum sum_added_alone(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                            const AblationCell& whole);

/// The effects that the switches have beside all the others: candidate minus left out.
AblationSum sum_left_out(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                         const AblationCell& whole);

}  // namespace memduel
