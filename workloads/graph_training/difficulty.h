// How hard graphs are, by an autoencoder's errors.
#pragma once

#include <span>
#include <vector>

#include "memduel/memory_torch.h"
#include "workloads/graph_training/vgae.h"

namespace memduel {

/// difficulty_scoring: how many graphs go through the autoencoder at once.
enum class DifficultyScoring {
  one_by_one,
  chunked,  ///< likewise, and a GPU's cache is emptied after every 500 and at the end
  batched,  ///< as many as a step takes, at most 500
};

/// The reconstruction error of each of `graphs`, in their order. The network is in evaluation mode
/// afterwards. @param step_graphs that a step of its training took.
std::vector<float> score_graphs(Vgae& network, const GraphStore& store,
                                std::span<const std::size_t> graphs, DifficultyScoring scoring,
                                std::size_t step_graphs, const at::Device& device,
                                DeviceMemory& memory = torch_cuda());

}  // namespace memduel
