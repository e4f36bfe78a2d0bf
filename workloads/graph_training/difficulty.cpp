#include "workloads/graph_training/difficulty.h"

#include <algorithm>

namespace memduel {
namespace {

constexpr std::size_t kChunk = 500;

}  // namespace

std::vector<float> score_graphs(Vgae& network, const GraphStore& store,
                                std::span<const std::size_t> graphs, DifficultyScoring scoring,
                                std::size_t step_graphs, const at::Device& device,
                                DeviceMemory& memory) {
  const torch::NoGradGuard no_grad;
  network->eval();
  std::vector<float> scores;
  scores.reserve(graphs.size());
  const std::size_t at_once =
      scoring == DifficultyScoring::batched ? std::min(kChunk, step_graphs) : 1;
  for (std::size_t first = 0; first < graphs.size(); first += at_once) {
    const GraphBatch batch =
        make_batch(store, graphs.subspan(first, std::min(at_once, graphs.size() - first)))
            .on(device);
    const torch::Tensor errors =
        reconstruction_errors(network->forward(batch), batch).to(torch::kCPU).contiguous();
    scores.insert(scores.end(), errors.data_ptr<float>(),
                  errors.data_ptr<float>() + errors.numel());
    const bool ends_chunk = scores.size() % kChunk == 0 || scores.size() == graphs.size();
    if (scoring == DifficultyScoring::chunked && ends_chunk) memory.empty_cache();
  }
  return scores;
}

}  // namespace memduel
