// The flame graphs inside a run's report: which profiles stand side by side, and what the page
// draws them from.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analysis/values/results.h"
#include "profilers/profile/model/profile.h"
#include "reports/tables/profile_list.h"

namespace memduel {

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
  std::string packed;  ///< profilers/profile/questions/flame_data.h, gzipped, in base64
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

/// Reads a profile of any tracer. Throws Error when it cannot.
using ReadProfile = std::function<Profile(const std::filesystem::path&)>;

RunFlames load_flames(const std::filesystem::path& directory, const std::vector<FlamePair>& pairs,
                      const ReadProfile& read, const RunFlamesOptions& options = {});

/// Takes commands, paths and notes out of a profile; files keep their names.
void make_confidential(Profile& profile);

}  // namespace memduel
