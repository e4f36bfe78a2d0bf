// memduel budget's measured mode: memduel-worker trains for a few steps and says what they took.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/budget_report.h"

namespace memduel::cli {

/// What is trained: an arm of a config's workload, or a model on a data set.
struct ProbedWorkload {
  std::string config;
  std::string arm;                     ///< empty: the baseline
  std::vector<std::string> set;        ///< path=value
  std::optional<std::string> network;  ///< of a training on graphs
  std::string model;
  std::string teacher;
  std::string dataset;
  std::string optimizer;
  std::string device;
  int threads = 1;
  std::optional<std::string> data_dir;
};

/// Prints the breakdown. Returns 1 where the recommended batch was tried and its peak is above the
/// budget.
int measured_budget(const ProbedWorkload& workload, const BudgetRequest& request);

}  // namespace memduel::cli
