// The profiles of a run, and how to look at them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/results.h"
#include "base/profile_name.h"

namespace memduel {

struct ListedProfile {
  std::string file;  ///< relative to the run's directory
  std::string arm;
  std::string role;
  std::int64_t trial = 0;
  std::string tracer;
  std::optional<int> round;  ///< a dump at the end of this round; absent: the whole run
};

struct ProfileList {
  /// By tracer in the order of their trials, then by role, by arm as in the results, and by file.
  std::vector<ListedProfile> profiles;
  /// One per tracer, role and candidate: each role's largest file
  /// of the whole run, which of a wrapper script and the program that it executes is the program.
  /// Then one per tracer, role and arm that compares its first round with its last.
  std::vector<std::string> commands;
  std::vector<std::string> sentences;  ///< what recording did to the arms, one per tracer
};

/// Files of which `results` knows no profile trial are left out. `directory`: the run's, by which
/// commands name the files; empty: they are for somebody in it.
ProfileList list_profiles(const Results& results, const std::vector<ProfileFile>& files,
                          const std::filesystem::path& directory = {});

}  // namespace memduel
