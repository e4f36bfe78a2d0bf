// Models that are only a table of tensor shapes: states to carry, without a network to train.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "workloads/models/model.h"

namespace memduel {

/// Names of models that are tables: they need workload kind state-dict.
inline constexpr const char* kLlamaTable = "llama-3.1-8b";
inline constexpr const char* kCustomTable = "tensors";

struct NamedShape {
  std::string name;
  std::vector<std::int64_t> shape;
  bool trained = true;  ///< false: a buffer, as batch norm's statistics are
  bool counts = false;  ///< 64-bit integers instead of 32-bit floats
};

/// A config's own table: name to shape, or to {"shape", "buffer", "dtype"}. Throws Error(usage).
std::vector<NamedShape> read_table(const nlohmann::json& tensors);

/// The 291 tensors of Llama-3.1-8B, 8,030,261,248 elements: 32 layers of width 4096 with 32 query
/// and 8 key-value heads of 128, feed-forward 14336, vocabulary 128256 (Meta's published config).
std::vector<NamedShape> llama_3_1_8b();

/// The table with every first dimension scaled by one factor, rounded down but at least 1, so that
/// its tensors of 32-bit floats take about `bytes`; unchanged where `bytes` is 0. Throws
/// Error(usage) where it would have to grow.
std::vector<NamedShape> scale_table(std::vector<NamedShape> table, std::int64_t bytes);

/// Tensors with values from `seed`; no network.
Model make_state(const std::vector<NamedShape>& table, std::uint64_t seed);

}  // namespace memduel
