// The final model on disk: the state as it travels (transport/state_codec.h).
#pragma once

#include <filesystem>
#include <optional>

#include "workloads/federated/state.h"

namespace memduel {

/// Appears whole or not at all. Throws Error(io).
void write_model_file(const std::filesystem::path& path, const State& state);

/// Throws Error(io) when the file cannot be read, Error(cannot_measure) when it holds no state.
State read_model_file(const std::filesystem::path& path);

struct StateDifference {
  bool bit_identical = false;
  /// Largest absolute difference over all elements; absent when one is not a number.
  std::optional<double> max_abs_diff;
};

/// Throws Error(cannot_measure) when names, dtypes or shapes differ.
StateDifference compare_states(const State& a, const State& b);

}  // namespace memduel
