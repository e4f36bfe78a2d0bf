// The profiles of a run, and how to look at them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/results.h"

namespace memduel {

/// A file of the run's profiles/.
struct ProfileFile {
  std::string
      name;  ///< TRIAL-ROLE.mdp of a role's first process image, TRIAL-ROLE.2.mdp of its second
  std::uintmax_t bytes = 0;
};

struct ListedProfile {
  std::string file;  ///< relative to the run's directory
  std::string arm;
  std::string role;
  std::int64_t trial = 0;
};

struct ProfileList {
  std::vector<ListedProfile> profiles;  ///< by role, then by arm as in the results, then by file
  /// One per role and candidate, to be run in the run's directory: each role's largest file, which
  /// of a wrapper script and the program that it executes is the program.
  std::vector<std::string> commands;
  std::vector<std::string> sentences;  ///< what recording did to each arm
};

/// Files of which `results` knows no profile trial are left out.
ProfileList list_profiles(const Results& results, const std::vector<ProfileFile>& files);

}  // namespace memduel
