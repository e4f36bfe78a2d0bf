// The same program under several tracers: what each says, by how much they differ, and what each
// counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tracer_agreement.h"
#include "profilers/profile/questions/profile_difference.h"

namespace memduel {

/// What one tracer left of a role.
struct TracedTrials {
  std::string tracer;    ///< "recorder", "heaptrack", …
  ProfileSide profiles;  ///< by trial, by process image
};

/// The recorder is the reference, else the first. Of each trial the image counts that allocated
/// most, because tools follow a program into its children or not. Profiles of time are left out,
/// and tracers that left nothing; absent where fewer than two tracers remain. `arm` and `role` are
/// left to the caller.
std::optional<TracerAgreement> tracer_agreement(std::vector<TracedTrials> traced);

}  // namespace memduel
