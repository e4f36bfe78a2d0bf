// Whether a meter or a tracer can be used on this machine.
#pragma once

#include <string>

namespace memduel {

struct Availability {
  bool works = false;
  std::string why;       ///< why not, and what to do about it; empty when it works
  std::string how = {};  // NOLINT(readability-redundant-member-init): -Wextra; where ways differ
};

}  // namespace memduel
