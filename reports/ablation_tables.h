// The ablation and the lower bounds of a run, put the way every report shows them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "verdict/results.h"

namespace memduel {

// The last rows of a table.
inline constexpr const char* kAllOfThem = "all of them";
inline constexpr const char* kSumOfTheAbove = "sum of the above";
inline constexpr const char* kInteraction = "interaction";

/// The rows of one role, metric and phase, largest effect first, with their total.
struct AblationTable {
  std::span<const AblationRow> rows;
  const AblationTotal* total = nullptr;
};

/// Whether an arm takes the candidate apart.
bool is_ablation_arm(const Results& results, const std::string& name);

/// In the order of the results: whole trials, then phases. Points into `results`.
std::vector<AblationTable> ablation_tables(const Results& results);

/// "saves", "costs", "mixed", "nothing", "cannot tell".
std::string word(SwitchEffect effect);

/// What the tables come to: whole, sum and interaction of every table of whole trials, then the
/// switches that give nothing and those of which nothing can be said. Empty without an ablation.
std::vector<std::string> ablation_sentences(const Results& results);

/// One sentence for each bound, with the multiples of the arms that are judged.
std::vector<std::string> lower_bound_sentences(const Results& results);

}  // namespace memduel
