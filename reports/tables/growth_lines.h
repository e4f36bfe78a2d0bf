// Where growth leads and which stacks make it, put the way the page shows it.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

struct GrowingRow {
  std::string amount;  ///< "256.0 KiB per round"
  double bytes_per_round = 0;
  std::string function;            ///< the one that tells most, see telling_frame
  std::string caller;              ///< of it, see telling_caller
  std::vector<std::string> stack;  ///< outermost first, whole
  std::string phase;               ///< empty: in none
};

struct GrowthLine {
  std::string outlook;  ///< whether and when it runs out of memory: "no: it is flat"
  std::vector<GrowingRow> stacks;
};

/// One per row of results.growth, in their order.
std::vector<GrowthLine> growth_lines(const Results& results);

}  // namespace memduel
