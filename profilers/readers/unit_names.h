// Units as pprof spells them.
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"

namespace memduel {

struct NamedUnit {
  std::string_view name;
  ProfileUnit unit;
  double each;  ///< how many bytes or nanoseconds one of it is, 1 for counts
};

/// Counts, where the name is none of bytes or time.
constexpr NamedUnit unit_named(std::string_view name) {
  constexpr NamedUnit kUnits[] = {
      {"bytes", ProfileUnit::bytes, 1},
      {"nanoseconds", ProfileUnit::nanoseconds, 1},
      {"microseconds", ProfileUnit::nanoseconds, 1e3},
      {"milliseconds", ProfileUnit::nanoseconds, 1e6},
      {"seconds", ProfileUnit::nanoseconds, 1e9},
  };
  for (const NamedUnit& unit : kUnits) {
    if (name == unit.name) return unit;
  }
  return {"count", ProfileUnit::samples, 1};
}

}  // namespace memduel
