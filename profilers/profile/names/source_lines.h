// Lines of source code below the stacks of two sides: the one whose memory changed, and its
// location as people write it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

/// Whether the file is of Python's standard library, where a program's own lines are not.
bool is_of_standard_library(const std::string& file);

/// The first line that is not of the standard library, of frames_with_locations(); else that of the
/// first frame.
/// @param line_at the line of a frame, whose `file` is empty if it is unknown
template <typename LineAt>
SourceLine own_line(const std::vector<std::size_t>& frames, const LineAt& line_at) {
  SourceLine first;
  for (const std::size_t frame : frames) {
    SourceLine line = line_at(frame);
    if (!line.file.empty() && !is_of_standard_library(line.file)) return line;
    if (frame == frames.front()) first = std::move(line);
    if (first.file.empty()) break;  // no frame of Python
  }
  return first;
}

/// "src/state.cpp:88", see SourceRoots.
std::string location_text(const SourceLine& place, const SourceRoots& roots);

}  // namespace memduel
