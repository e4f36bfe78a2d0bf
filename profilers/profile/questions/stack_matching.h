// Which stack of one build is which stack of the other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profilers/profile/names/stack_names.h"

namespace memduel {

/// What one side has at a stack.
struct StackAmount {
  Estimate total;
  std::map<std::string, Estimate> by_phase;  ///< of birth

  StackAmount& operator+=(const StackAmount& other);
};

using StackAmounts = std::map<NamedStack, StackAmount>;

struct MatchedStack {
  NamedStack stack;  ///< the fullest of those that were put together
  StackAmount baseline;
  StackAmount candidate;
  bool in_baseline = false;
  bool in_candidate = false;
  bool guessed = false;  ///< they are not equal, only alike
  /// The baseline's stacks that were put together.
  std::vector<NamedStack> of_baseline = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// One side: its amounts and every function that its names know, sorted.
struct NamedSide {
  StackAmounts amounts;
  std::vector<std::uint32_t> functions;
};

std::vector<MatchedStack> match_stacks(const NamedSide& baseline, const NamedSide& candidate);

}  // namespace memduel
