#include "workloads/graph_training/batch_choice.h"

#include <algorithm>

namespace memduel {
namespace {

MemoryBudget budget_for(const BatchQuestion& question, const at::Device& device) {
  const int identifiers = static_cast<int>(question.identifiers);
  BudgetInput input;
  input.device_bytes = question.device_bytes;
  if (device.is_cpu()) input.context_bytes = 0;
  input.parameter_bytes =
      static_cast<double>(parameter_count(question.model, identifiers)) * sizeof(float);
  input.embedding_bytes =
      static_cast<double>(embedding_count(question.model, identifiers)) * sizeof(float);
  input.teacher_bytes = static_cast<double>(question.teacher_bytes);
  input.sample_bytes = graph_sample_bytes(question.nodes, question.edges);
  input.activation_bytes =
      graph_activation_bytes(network_of(question.model, question.nodes, question.edges),
                             question.precision == Precision::fp32 ? 4 : 2);
  if (question.model.safety_factor)
    input.target_utilization = utilization_for(*question.model.safety_factor);
  input.most_batch = question.configured;
  input.least_batch = std::min(input.least_batch, input.most_batch);
  return plan_budget(input);
}

}  // namespace

std::int64_t choose_batch(BatchSizing sizing, const BatchQuestion& question,
                          const TrainingStep& step, const at::Device& device) {
  if (sizing == BatchSizing::fixed) return question.configured;
  const MemoryBudget budget = budget_for(question, device);
  if (sizing == BatchSizing::estimated) return budget.batch;
  if (sizing == BatchSizing::estimated_once) return budget.batch_as_coded;
  const BatchBounds bounds{std::min<std::int64_t>(BatchBounds{}.least, question.configured),
                           question.configured};
  return largest_batch(
             step, device, budget.usable_bytes, bounds,
             sizing == BatchSizing::measured ? BatchSearch::measured : BatchSearch::search)
      .batch;
}

}  // namespace memduel
