// What a profile says is live at the ends of rounds, stack by stack.
#pragma once

#include <string>
#include <vector>

namespace memduel {

struct LiveStack {
  std::vector<std::string> stack;  ///< functions, outermost first
  std::string phase;               ///< where most of it was born; empty: in none
  std::vector<double> bytes;       ///< at the end of each round
};

struct LiveAtRoundEnds {
  std::vector<int> rounds;  ///< ascending
  std::vector<LiveStack> stacks;
};

}  // namespace memduel
