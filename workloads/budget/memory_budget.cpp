#include "budget/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace memduel {
namespace {

constexpr int kLeastChannels = 64;

/// Whole samples, however many a 64-bit number may not hold.
std::int64_t whole_samples(double bytes, double bytes_per_sample, const BudgetInput& input) {
  if (bytes <= 0 || bytes_per_sample <= 0) return input.least_batch;
  const double samples = std::floor(bytes / bytes_per_sample);
  return static_cast<std::int64_t>(std::clamp(samples, static_cast<double>(input.least_batch),
                                              static_cast<double>(input.most_batch)));
}

}  // namespace

double graph_activation_bytes(const GraphNetwork& network, double element_bytes) {
  const double channels = std::max(kLeastChannels, network.channels);
  const double layers = std::max(1, network.layers);
  const double values = (network.nodes + network.edges) * channels * layers;
  const double attention = network.edges * network.heads * layers;
  return 2 * (values + attention) * element_bytes;
}

double graph_sample_bytes(double nodes, double edges) {
  constexpr double kFeatures = 11 * 4;
  constexpr double kIndex = 8;
  return nodes * (kFeatures + kIndex) + edges * (kFeatures + 2 * kIndex) + kIndex;
}

MemoryBudget plan_budget(const BudgetInput& input) {
  MemoryBudget budget;
  budget.context_bytes = input.context_bytes;
  budget.embedding_bytes = input.embedding_bytes;
  budget.model_bytes = input.parameter_bytes - input.embedding_bytes;
  budget.optimizer_bytes = input.optimizer_states * input.parameter_bytes;
  budget.gradient_bytes = input.parameter_bytes;
  budget.teacher_bytes = input.teacher_bytes;
  budget.static_bytes = budget.context_bytes + budget.model_bytes + budget.embedding_bytes +
                        budget.optimizer_bytes + budget.gradient_bytes + budget.teacher_bytes;
  budget.sample_bytes = input.sample_bytes;
  budget.activation_bytes = input.activation_bytes;
  budget.batch = budget.batch_as_implemented = input.least_batch;
  if (!input.device_bytes) {
    budget.warnings.emplace_back("no device: the smallest batch is recommended");
    return budget;
  }
  budget.device_bytes = *input.device_bytes;
  budget.usable_bytes = usable_bytes(budget.device_bytes, input.target_utilization);
  budget.available_bytes = std::max(0.0, budget.usable_bytes - budget.static_bytes);
  if (budget.available_bytes <= 0) {
    budget.warnings.emplace_back(
        "the memory that is independent of the batch exceeds the usable memory");
    return budget;
  }
  const double per_sample = input.sample_bytes + input.activation_bytes;
  budget.batch = whole_samples(budget.available_bytes, per_sample, input);
  budget.batch_as_implemented =
      whole_samples(budget.available_bytes - input.activation_bytes, input.sample_bytes, input);
  if (per_sample > 0 &&
      budget.available_bytes < per_sample * static_cast<double>(input.least_batch))
    budget.warnings.push_back(fmt::format("the smallest batch, {}, does not fit: {} samples do",
                                          input.least_batch,
                                          std::floor(budget.available_bytes / per_sample)));
  return budget;
}

double usable_bytes(double device_bytes, double target_utilization) {
  return device_bytes * target_utilization * (1 - kFragmentation);
}

double utilization_for(double safety_factor) {
  return std::min(0.85, safety_factor + 0.15);
}

double estimated_bytes(const MemoryBudget& budget, std::int64_t batch) {
  return budget.static_bytes +
         static_cast<double>(batch) * (budget.sample_bytes + budget.activation_bytes);
}

}  // namespace memduel
