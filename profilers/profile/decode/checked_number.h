// Numbers of a file in types that may be too small for them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace memduel {

/// Throws std::out_of_range, with `what` it is.
template <class Number>
Number checked_number(std::uint64_t value, const char* what) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) {
    throw std::out_of_range(fmt::format("{} {} is too large", what, value));
  }
  return static_cast<Number>(value);
}

}  // namespace memduel
