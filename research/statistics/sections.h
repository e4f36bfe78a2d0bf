// The parts of the target table. Each prints its own section and reports misses.
#pragma once

#include "bench/statistics/table.h"

namespace memduel::bench {

struct BenchOptions {
  int repetitions = 2000;
  unsigned long seed = 1;
};

void speed(Report& report);
void verdicts_by_noise(Report& report, const BenchOptions& options);
void many_gates(Report& report, const BenchOptions& options);
void false_verdicts(Report& report, const BenchOptions& options);
void places(Report& report, const BenchOptions& options);
void unequal_shapes(Report& report, const BenchOptions& options);
void power_and_equivalence(Report& report, const BenchOptions& options);
void floors_and_bounds(Report& report, const BenchOptions& options);
void smallest_detectable(Report& report, const BenchOptions& options);
void exact_counters(Report& report, const BenchOptions& options);
void adaptive(Report& report, const BenchOptions& options);
void growth(Report& report, const BenchOptions& options);
void growth_trials(Report& report, const BenchOptions& options);

}  // namespace memduel::bench
