// The epochs of a recording in which a scorer has written stages of sleep.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workloads/eeg/recording.h"

namespace memduel {

inline constexpr std::size_t kSleepStages = 5;  ///< W, N1, N2, N3, R

struct StagedEpoch {
  std::size_t first_sample = 0;  ///< of every channel
  std::size_t stage = 0;         ///< 0 W, 1 N1, 2 N2, 3 N3, 4 R
};

/// Stretches of `seconds` that lie whole inside an annotation "Sleep stage W", N1 or 1, N2 or 2,
/// N3, 3 or 4, or R, as EDF+ has them, in order of time. Other annotations are passed over. Throws
/// Error(io) naming the file where there is no such stretch.
std::vector<StagedEpoch> staged_epochs(const EegRecording& recording, int seconds,
                                       const std::string& name);

}  // namespace memduel
