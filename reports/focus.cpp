#include "focus.h"

#include <algorithm>

namespace memduel {

std::string candidate_in_focus(const Results& results) {
  const auto failed = std::ranges::find_if(results.gates, &GateResult::fails);
  if (failed != results.gates.end()) return failed->candidate;
  const std::vector<std::string> ranked = ranked_candidates(results);
  return ranked.empty() ? "" : ranked.front();
}

}  // namespace memduel
