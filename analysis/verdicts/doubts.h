// What takes the verdicts of a whole run back. A row and a gate are decided with it, once.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/values/results.h"
#include "analysis/verdicts/comparison.h"
#include "analysis/verdicts/gate_grammar.h"
#include "base/run_data.h"

namespace memduel {

/// Why no verdict of a run counts; empty where they do.
struct Doubts {
  std::vector<std::string> reasons;  ///< the verdict that they take back is told beside them
  std::string pending;  ///< of a run that still goes on: a look that the plan does not have spends
                        ///< no error rate, so that what it sees is not told

  [[nodiscard]] bool any() const { return !reasons.empty() || !pending.empty(); }
  /// Of a row or gate that would have the verdict of `reason` without them.
  [[nodiscard]] std::string explain(std::string reason) const;
};

/// The growth of `arm` that the row is about; nullptr where it was not judged.
const Growth* growth_of(const std::vector<Growth>& growth, const std::string& arm,
                        const std::string& role, const std::string& metric);

/// A warning that names the first gate row in which a hidden twin of the baseline (one of
/// `controls`) seems to differ from it; absent where none does.
std::optional<Note> flagged_control(const std::vector<MeasuredRow>& rows,
                                    const std::set<std::string>& controls,
                                    const std::vector<Gate>& gates);

}  // namespace memduel
