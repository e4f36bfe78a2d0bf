// Which candidate is best, where there are several.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// Candidates, best first: by the effect on the first gate's row, those that failed a gate behind
/// all others; arms that no gate asks about come last, in their own order.
std::vector<std::string> ranked_candidates(const Results& results);

/// Sorts by the rank of a candidate's name.
class CandidateOrder {
 public:
  explicit CandidateOrder(const Results& results) : ranked_(ranked_candidates(results)) {}
  [[nodiscard]] std::size_t rank(const std::string& candidate) const;

 private:
  std::vector<std::string> ranked_;
};

/// "Best of 3 candidates: minimal. server memory above idle at its peak: minimal has 94 % LESS,
/// optimized 60 % LESS; …; each against original."; empty where none improved the first gate's row,
/// and with fewer than two.
std::string best_sentence(const Results& results);

}  // namespace memduel
