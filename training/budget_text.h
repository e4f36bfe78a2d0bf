// What `memduel budget` prints.
#pragma once

#include <string>

#include "training/budget_report.h"
#include "training/memory_budget.h"
#include "training/parallel_clients.h"

namespace memduel {

/// The breakdown, the recommended batch, what the code of KD-GAT would recommend, and what each of
/// the two would take.
std::string describe_budget(const BudgetInput& input, const MemoryBudget& budget);

/// The breakdown, from shapes beside measured; the recommended batch, its peak by the estimate and,
/// where it was tried, the true one.
std::string describe_measured_budget(const BudgetReport& report);

/// CSFL's published settings beside its code's and the estimate.
std::string describe_parallel_clients(const std::vector<ParallelClients>& rows);

}  // namespace memduel
