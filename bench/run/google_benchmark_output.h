// What the Google Benchmark programs of a trial say of their benchmarks.
#pragma once

#include <filesystem>
#include <string>

#include "trial/trial_plan.h"

namespace memduel {

/// The variable that has a Google Benchmark program (since 1.5.1) write its results to a file, too.
/// A program's own --benchmark_out wins.
inline constexpr const char* kBenchmarkOutput = "BENCHMARK_OUT";

/// The file that a role of the trial is told to write to.
std::filesystem::path benchmark_output(const std::filesystem::path& trial_dir,
                                       const std::string& role);

/// Adds a role for each benchmark that a process of the trial has run, named in full
/// ("BM_copy/4096"; "ROLE: BM_copy/4096" where another process has run one of that name). A file
/// that cannot be read becomes a warning.
void add_benchmarks(const TrialPlan& plan, TrialRun& run);

}  // namespace memduel
