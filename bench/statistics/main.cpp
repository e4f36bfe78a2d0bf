// Prints the tables of results.md and exits 1 when a target is missed:
//   build/release/bin/memduel-bench-statistics [REPETITIONS [SEED]]
#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "bench/statistics/sections.h"

namespace {

int run(int argc, char** argv) {
  memduel::bench::BenchOptions options;
  if (argc > 1) options.repetitions = std::atoi(argv[1]);
  if (argc > 2) options.seed = std::strtoul(argv[2], nullptr, 10);
  if (options.repetitions < 1) {
    fmt::print(stderr, "usage: memduel-bench-statistics [REPETITIONS [SEED]]\n");
    return 2;
  }
  memduel::bench::Report report;
  report.line(
      fmt::format("{} repetitions in each cell, seed {}.", options.repetitions, options.seed));
  // First, while the program has used no other memory.
  memduel::bench::speed(report);
  memduel::bench::false_verdicts(report, options);
  memduel::bench::places(report, options);
  memduel::bench::unequal_shapes(report, options);
  memduel::bench::power_and_equivalence(report, options);
  memduel::bench::floors_and_bounds(report, options);
  memduel::bench::smallest_detectable(report, options);
  memduel::bench::exact_counters(report, options);
  memduel::bench::adaptive(report, options);
  memduel::bench::growth(report, options);
  report.line(fmt::format("\n{} targets missed.", report.missed()));
  return report.missed() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
