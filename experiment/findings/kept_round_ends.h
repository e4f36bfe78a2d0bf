// What the profile trials of a run say is live at the ends of rounds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/live_at_round_ends.h"
#include "base/run_data.h"

namespace memduel {

/// Of the first profile trial of `arm` in which the recorder looked at `role`; of several process
/// images the one that has most at its last end. Nothing where there is none with rounds; a profile
/// that cannot be read is a problem more.
std::optional<LiveAtRoundEnds> kept_round_ends(const std::filesystem::path& run_directory,
                                               const RunData& run, const std::string& arm,
                                               const std::string& role,
                                               std::vector<Note>& problems);

}  // namespace memduel
