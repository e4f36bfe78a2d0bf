// memduel budget, as a user calls it.
#pragma once

#include <string>
#include <vector>

#include "support/memduel_program.h"

namespace memduel {

/// In a directory that is gone afterwards.
inline Finished budget(std::vector<std::string> more) {
  const Workplace place;
  more.insert(more.begin(), "budget");
  return memduel(place, more);
}

}  // namespace memduel
