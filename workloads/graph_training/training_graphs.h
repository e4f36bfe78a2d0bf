// Which graphs of a file a training learns from, and which it validates with.
#pragma once

#include <filesystem>

#include "workloads/datasets/partition.h"
#include "workloads/graphs/graph_file.h"

namespace memduel {

struct TrainingGraphs {
  Indices normals;  ///< to train on, without an attack
  Indices attacks;  ///< to train on, with one
  Indices validation;
};

/// Four fifths are to train on, in an order of the seed. Throws Error(usage) naming `file` where
/// one of the three is empty.
TrainingGraphs split_graphs(const GraphStore& store, std::uint64_t seed,
                            const std::filesystem::path& file);

}  // namespace memduel
