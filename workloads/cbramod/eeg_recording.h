// Faults of a recording, as CBraMod's data sets are scanned for them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workloads/eeg/recording.h"

namespace memduel {

enum class EegFault {
  not_finite,  ///< NaN or infinite
  extreme,     ///< beyond 1,000,000 either way
  clipped,     ///< 32,768 or more either way: where 16 bits end
  constant,    ///< no variance in the whole channel
};

/// "not finite", "extreme", …
const char* name_of(EegFault fault);

struct FaultyChannel {
  std::size_t channel = 0;
  EegFault fault = EegFault::not_finite;
  std::size_t first_sample = 0;
  std::size_t count = 0;  ///< of samples
};

/// Each channel's worst fault, in the order of the channels; empty for a sound recording.
std::vector<FaultyChannel> scan(const EegRecording& recording);

/// Throws Error(io) naming the first faulty channel, its sample and fault, and how many there are.
void expect_sound(const EegRecording& recording, const std::string& name);

}  // namespace memduel
