// The profiles of a run: their list with the commands that open them, and their flame graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/run_directory.h"
#include "profile/profile.h"
#include "verdict/results.h"

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

/// One role's profiles of the baseline and a candidate, or of one arm where only one has any.
struct FlamePair {
  std::string tracer;
  std::string role;
  std::vector<std::string> arms;   ///< baseline first
  std::vector<std::string> files;  ///< of the arms, relative to the run's directory
};

/// Of each tracer, role and arm the largest file of its first profile trial; dumps at the ends of
/// rounds are left out. Roles come in the order of the gates that ask about them, the server for
/// the whole job; of one role the best candidate comes first.
std::vector<FlamePair> flame_pairs(const Results& results, const std::vector<ProfileFile>& files);

struct RunFlame {
  FlamePair pair;
  std::string packed;  ///< profilers/profile/include/profile/outputs.h, gzipped, in base64
};

struct AbsentFlame {
  FlamePair pair;
  std::string why;
};

struct RunFlames {
  std::vector<RunFlame> shown;
  std::vector<AbsentFlame> absent;
};

struct RunFlamesOptions {
  bool confidential = false;  ///< leave out commands, paths and notes
  /// What does not fit into so many bytes of the page is absent; the first pair always fits.
  std::size_t most_bytes = 2'400'000;
};

/// Reads a profile of any tracer. Throws Error when it cannot. Several threads call it at once.
using ReadProfile = std::function<Profile(const std::filesystem::path&)>;

RunFlames load_flames(const std::filesystem::path& directory, const std::vector<FlamePair>& pairs,
                      const ReadProfile& read, const RunFlamesOptions& options = {});

/// Takes commands, paths and notes out of a profile; files keep their names.
void make_confidential(Profile& profile);

}  // namespace memduel
