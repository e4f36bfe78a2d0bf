// What `memduel budget` prints.
#pragma once

#include <string>

#include "training/memory_budget.h"
#include "training/parallel_clients.h"

namespace memduel {

/// The breakdown, the recommended batch, what the code of KD-GAT would recommend, and what each of
/// the two would take.
std::string describe_budget(const BudgetInput& input, const MemoryBudget& budget);

/// CSFL's published settings beside its code's and the estimate.
std::string describe_parallel_clients(const std::vector<ParallelClients>& rows);

}  // namespace memduel
