// Whether the tracers of a run agree: the profiles of one arm and role, side by side.
#pragma once

#include <filesystem>
#include <vector>

#include "base/run_data.h"
#include "base/tracer_agreement.h"

namespace memduel {

struct RunAgreement {
  std::vector<TracerAgreement> agreement;  ///< by arm as in the config, then by role
  std::vector<Note> limitations;           ///< profiles that cannot be read
};

/// Of every arm and role of which two tracers or more left a profile of the heap in
/// `run_directory`; empty where none has. Of a process that was killed and left nothing but dumps
/// at the ends of its rounds the last one counts, as what it is.
RunAgreement run_agreement(const std::filesystem::path& run_directory, const RunData& run);

}  // namespace memduel
