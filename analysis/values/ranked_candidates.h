// Which candidate is best, where there are several.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// Candidates of which a gate failed.
std::set<std::string> failed_candidates(const Results& results);

/// The first row that a gate asks about; nullptr where none does.
const Comparison* first_gate_row(const Results& results);

/// Gate rows of one role and metric, the best effect first; failed candidates last.
std::vector<const Comparison*> ranked_rows(const Results& results, const Comparison& like);

/// Whether their intervals do not overlap.
bool told_apart(const Comparison& best, const Comparison& other);

/// Candidates, best first: by the effect on the first gate's row, then arms that no gate asks about
/// in their own order; those that failed a gate behind all others.
std::vector<std::string> ranked_candidates(const Results& results);

/// Sorts by the rank of a candidate's name.
class CandidateOrder {
 public:
  explicit CandidateOrder(const Results& results) : ranked_(ranked_candidates(results)) {}
  [[nodiscard]] std::size_t rank(const std::string& candidate) const;

 private:
  std::vector<std::string> ranked_;
};

}  // namespace memduel
