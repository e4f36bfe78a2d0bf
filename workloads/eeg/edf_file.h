// EDF and EDF+ files, through EDFlib.
#pragma once

#include <filesystem>

#include "workloads/eeg/recording.h"

namespace memduel {

/// Every signal, and the annotations of EDF+. Throws Error(io) for a file that is missing, cut off
/// or no EDF, for signals of different rates, and for one that stays at an end of its digital
/// range for more than a tenth of a second, naming file, found and expected. From one thread
/// at a time.
EegRecording read_edf(const std::filesystem::path& path);

}  // namespace memduel
