// Lines of source code below the stacks of two sides: the one whose memory changed, and its
// location as people write it.
#pragma once

#include <map>
#include <string>

#include "profile/difference.h"
#include "profile/profile.h"

namespace memduel {

/// Where a frame of a stack is: of a caller the line of its call.
struct SourceLine {
  std::string file;  ///< empty: unknown
  int line = 0;      ///< 0: unknown

  [[nodiscard]] bool operator==(const SourceLine&) const = default;
  [[nodiscard]] auto operator<=>(const SourceLine&) const = default;
};

/// What each line of one function has.
using LineAmounts = std::map<SourceLine, double>;

/// The line of `more` that has most beyond what it has in `less`. Lines of the two sides are
/// matched in their order, by the amounts that they have: those of another build are shifted. Empty
/// without lines in `more`.
SourceLine changed_line(const LineAmounts& less, const LineAmounts& more);

/// "src/state.cpp:88", see SourceRoots.
std::string location_text(const SourceLine& place, const SourceRoots& roots);

}  // namespace memduel
