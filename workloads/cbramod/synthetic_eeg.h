// EEG of sleepers that never were, with the spectra that scorers of sleep look for.
#pragma once

#include <cstdint>

#include "eeg_recording.h"

namespace memduel {

inline constexpr double kEegRate = 200;  ///< Hz, as CBraMod's

struct EegShape {
  std::size_t channels = 16;
  std::size_t samples = 6000;  ///< of each: 30 s
};

/// One epoch in microvolts: per channel a background whose power falls as 1/f, and the rhythm of
/// its stage, which all channels share: alpha (10 Hz) for W, theta (6 Hz) for N1, spindles (13.5
/// Hz) for N2, delta (1.5 Hz) for N3, sawtooth waves (3 Hz) for R. The same seed makes the same
/// epoch.
EegRecording synthetic_epoch(std::size_t stage, const EegShape& shape, std::uint64_t seed);

}  // namespace memduel
