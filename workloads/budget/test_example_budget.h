// A budget whose numbers are easily followed.
#pragma once

#include "budget/memory_budget.h"

namespace memduel {

/// 16,000 MB, of which 545 do not depend on the batch.
inline BudgetInput sixteen_thousand() {
  BudgetInput input;
  input.device_bytes = 16000 * kMiB;
  input.parameter_bytes = 15 * kMiB;
  input.embedding_bytes = 5 * kMiB;
  input.optimizer_states = 0;
  input.teacher_bytes = 15 * kMiB;
  return input;
}

}  // namespace memduel
