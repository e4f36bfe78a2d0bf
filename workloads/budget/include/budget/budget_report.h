// A measured budget: what is asked of memduel-worker and what it answers, as values and as JSON,
// and what `memduel budget` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "budget/measured_batch.h"
#include "budget/memory_budget.h"
#include "budget/parallel_clients.h"

namespace memduel {

struct BudgetRequest {
  std::optional<double> device_bytes;        ///< absent: what the worker finds
  std::optional<double> target_utilization;  ///< absent: what the training aims at
  BatchBounds bounds;
  bool verify = false;  ///< runs the recommended batch, too
  /// Of a training on graphs: autoencoder, teacher or student, which stands for absent.
  std::optional<std::string> network = std::nullopt;
};

/// What a training holds between its steps, and a sample's own tensors.
struct BudgetParts {
  double data_bytes = 0;  ///< its data set, where that is on the device
  double parameter_bytes = 0;
  double gradient_bytes = 0;
  double optimizer_bytes = 0;
  double sample_bytes = 0;
  double other_weight_bytes = 0;  ///< a teacher's, or a copy of the best
};

struct BudgetReport {
  std::string device;  ///< cpu or cuda
  double device_bytes = 0;
  double context_bytes = 0;  ///< of CUDA, as measured; 0 on a CPU
  double usable_bytes = 0;   ///< usable_bytes() of the device
  double target_utilization = 0;
  BudgetParts from_shapes;
  BudgetParts measured;  ///< sample_bytes with the activations: the slope of the peaks
  FoundBatch found;
  std::optional<double> true_peak_bytes;  ///< of a step with the batch that was found

  /// For all tensors together.
  [[nodiscard]] double tensor_budget_bytes() const { return usable_bytes - context_bytes; }
  /// Known only where the batch was tried.
  [[nodiscard]] bool is_exceeded() const {
    return true_peak_bytes && *true_peak_bytes > tensor_budget_bytes();
  }
};

/// Throws nlohmann::json::exception where a field is missing or of another type.
void to_json(nlohmann::json& json, const BudgetRequest& request);
void from_json(const nlohmann::json& json, BudgetRequest& request);
void to_json(nlohmann::json& json, const BudgetReport& report);
void from_json(const nlohmann::json& json, BudgetReport& report);

/// The breakdown, the recommended batch, what the code of KD-GAT would recommend, and what each of
/// the two would take.
std::string describe_budget(const BudgetInput& input, const MemoryBudget& budget);

/// The breakdown, from shapes beside measured; the recommended batch, its peak by the estimate and,
/// where it was tried, the true one.
std::string describe_measured_budget(const BudgetReport& report);

/// CSFL's published settings beside its code's and the estimate.
std::string describe_parallel_clients(const std::vector<ParallelClients>& rows);

}  // namespace memduel
