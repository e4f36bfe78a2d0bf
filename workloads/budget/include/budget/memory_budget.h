// How large a batch fits: KD-GAT's MemoryBudget (pipeline/memory.py), as its code has it and
// corrected. Pure: numbers in, a breakdown out. 1 MB of that program is 2^20 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/bytes.h"

namespace memduel {

/// The share of what may be used that its code leaves to fragmentation.
inline constexpr double kFragmentation = 0.10;

/// The share of a device that a training aims at where nothing else says.
inline constexpr double kTargetUtilization = 0.7;

/// The graph that a batch is made of, and the network that reads it.
struct GraphNetwork {
  double nodes = 100;
  double edges = 500;
  int layers = 1;    ///< convolutions
  int channels = 0;  ///< the widest convolution's output; below 64 counts as 64
  int heads = 1;
};

/// Bytes of activations for one graph, kept for the backward pass: twice the nodes' and the edges'
/// values in every layer, and the attention of every head on every edge.
double graph_activation_bytes(const GraphNetwork& network, double element_bytes);

/// Bytes of a graph's own tensors: 11 features of 4 bytes for each node and edge, two ends of 8
/// bytes for each edge, the graph that each node belongs to, and a label.
double graph_sample_bytes(double nodes, double edges);

struct BudgetInput {
  std::optional<double> device_bytes;  ///< absent: there is no device
  double context_bytes = 500 * kMiB;   ///< of CUDA; 0 on a CPU
  double parameter_bytes = 0;          ///< with the embeddings
  double embedding_bytes = 0;
  double optimizer_states = 2;  ///< of the size of the parameters: Adam 2, SGD 0, with momentum 1
  double teacher_bytes = 0;
  double sample_bytes = 0;      ///< of one sample's own tensors
  double activation_bytes = 0;  ///< for one sample
  double target_utilization = kTargetUtilization;
  std::int64_t least_batch = 8;
  std::int64_t most_batch = 8192;
};

struct MemoryBudget {
  double device_bytes = 0;
  double usable_bytes = 0;  ///< usable_bytes() of the device
  double context_bytes = 0;
  double model_bytes = 0;  ///< parameters without embeddings
  double embedding_bytes = 0;
  double optimizer_bytes = 0;
  double gradient_bytes = 0;
  double teacher_bytes = 0;
  double static_bytes = 0;     ///< the sum of the six above
  double available_bytes = 0;  ///< for data and activations; 0 when nothing is left
  double sample_bytes = 0;
  double activation_bytes = 0;
  std::int64_t batch = 0;                 ///< available / (sample + activation), within the bounds
  std::int64_t batch_as_implemented = 0;  ///< (available - activation) / sample, within the bounds
  std::vector<std::string> warnings;
};

/// The code subtracts the activations of one sample once, whatever the batch; that is its
/// recommendation, `batch_as_implemented`. `batch` counts them for every sample.
MemoryBudget plan_budget(const BudgetInput& input);

/// What may be used of a device: `target_utilization` of it, less kFragmentation.
double usable_bytes(double device_bytes, double target_utilization);

/// The utilization that KD-GAT aims at for a safety factor: 0.15 more, at most 0.85.
double utilization_for(double safety_factor);

/// What a batch takes, by the estimate: static bytes, samples and activations.
double estimated_bytes(const MemoryBudget& budget, std::int64_t batch);

}  // namespace memduel
