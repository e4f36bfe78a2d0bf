// What two profiles can be compared by, and whether their tools count alike.
#pragma once

#include <string>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

struct Comparability {
  bool one_tool = true;
  std::vector<ProfileKind> kinds;  ///< that both know, in the order of ProfileKind
  std::string warning;  ///< for people; empty where one tool made both and both have all they can
};

/// `names` are the two files', for people. Throws Error(usage) when the profiles have no amount in
/// common: another unit, or other questions.
Comparability comparability_of(const Profile& a, const Profile& b,
                               const std::vector<std::string>& names);

}  // namespace memduel
