// What takes a verdict back after its row was decided.
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

/// The growth of `arm` that the row is about; nullptr where it was not judged.
const Growth* growth_of(const std::vector<Growth>& growth, const std::string& arm,
                        const Comparison& row);

/// A warning that names the first gate row in which a hidden twin of the baseline (one of
/// `controls`) seems to differ from it; absent where none does.
std::optional<Note> flagged_control(const std::vector<MeasuredRow>& rows,
                                    const std::set<std::string>& controls,
                                    const std::vector<Gate>& gates);

/// The reason of a row or gate that would have another verdict without these doubts.
std::string with_doubts(const std::vector<std::string>& doubts, std::string reason);

/// A gate that is undecided for these doubts; a candidate that failed stays failed.
GateResult with_doubts(const std::vector<std::string>& doubts, GateResult gate);

}  // namespace memduel
