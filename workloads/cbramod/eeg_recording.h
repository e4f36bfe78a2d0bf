// An EEG recording in memory, all channels with one rate: read from EDF and EDF+ files (through
// EDFlib), its epochs with stages of sleep, and its faults, as CBraMod's data sets are scanned for
// them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace memduel {

/// What somebody wrote beside the signals.
struct EegAnnotation {
  double onset_seconds = 0;  ///< from the recording's begin
  double duration_seconds = 0;
  std::string text;
};

struct EegRecording {
  std::vector<std::string> channels;  ///< names, as the file has them
  double rate_hz = 0;
  std::size_t samples = 0;    ///< of each channel
  std::vector<float> values;  ///< channel after channel, in the file's physical unit
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::vector<EegAnnotation> annotations = {};

  [[nodiscard]] std::span<const float> channel(std::size_t index) const {
    return std::span(values).subspan(index * samples, samples);
  }
};

/// Every signal, and the annotations of EDF+. Throws Error(io) for a file that is missing, cut off
/// or no EDF, for signals of different rates, and for one that stays at an end of its digital
/// range for more than a tenth of a second, naming file, found and expected. From one thread
/// at a time.
EegRecording read_edf(const std::filesystem::path& path);

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
