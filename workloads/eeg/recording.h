// An EEG recording in memory: all channels with one rate.
#pragma once

#include <cstddef>
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
  std::vector<EegAnnotation> annotations =
      {};  // NOLINT(readability-redundant-member-init): -Wextra

  [[nodiscard]] std::span<const float> channel(std::size_t index) const {
    return std::span(values).subspan(index * samples, samples);
  }
};

}  // namespace memduel
