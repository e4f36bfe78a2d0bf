// The parts of the target table. Each prints its own section and reports misses.
#pragma once

#include "bench/statistics/table.h"

namespace memduel::bench {

struct BenchOptions {
  int repetitions = 2000;
  unsigned long seed = 1;
};

void false_verdicts(Report& report, const BenchOptions& options);
void power_and_equivalence(Report& report, const BenchOptions& options);
void adaptive(Report& report, const BenchOptions& options);
void growth(Report& report, const BenchOptions& options);
void speed(Report& report);

}  // namespace memduel::bench
