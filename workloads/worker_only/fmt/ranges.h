// fmt::join, for builds without {fmt}.
#pragma once

#include "fmt/format.h"

namespace fmt {

template <class Range>
Joined<Range> join(const Range& range, std::string_view separator) {
  return {range, separator};
}

}  // namespace fmt
