// The switches of a training on graphs: what KD-GAT's guide and its code do about memory.
#pragma once

#include <nlohmann/json.hpp>

#include "fl/training.h"
#include "graph_networks.h"
#include "kdgat/graph_file.h"
#include "teacher.h"

namespace memduel {

/// batch_size: how many graphs a step takes.
enum class BatchSizing {
  fixed,           ///< as the workload says
  estimated_once,  ///< static_as_implemented: by shapes, activations counted for one graph
  estimated,       ///< static: by shapes, activations counted for every graph
  measured,        ///< by what two batches take
  searched,        ///< by trying batches
};

struct GraphSwitches {
  GraphLoading graph_loading{};
  TeacherPlace teacher{};
  DifficultyScoring difficulty_scoring{};
  NeighbourhoodTarget neighbourhood_target{};
  Activations gradient_checkpointing{};
  Precision mixed_precision{};
  int loader_workers = 0;
  int clear_cache_every_n = 0;  ///< batches; 0: never
  BatchSizing batch_size{};
};

/// @param values switch name to value, every switch. Throws Error(usage) naming a switch that is
/// missing, unknown, or has an unknown value.
GraphSwitches make_graph_switches(const nlohmann::json& values);

}  // namespace memduel
