// Google Benchmark's JSON as a run: roles are benchmarks, trials are repetitions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/run_data.h"

namespace memduel {

/// Whether the document looks like Google Benchmark's output.
bool is_google_benchmark(const nlohmann::json& document);

/// Times in seconds (real_time_seconds, cpu_time_seconds) and the MemoryManager's numbers
/// (peak_heap_bytes from max_bytes_used, allocated_bytes from total_allocated_bytes,
/// allocation_count from allocs_per_iter, net_heap_growth_bytes), all in one arm, "benchmarks";
/// merge_runs.h makes a comparison of two. Aggregates are left out. Limitations say when there are
/// too few repetitions, where compare.py's U test accepts two, that repetitions share a process,
/// and that only the last repetition's bytes were possible (versions before 1.8). Throws Error(io)
/// that names the place for anything else than that format.
RunData run_from_google_benchmark(const nlohmann::json& document, const std::string& where);

/// The benchmarks of one process, with the metrics above: times are medians over repetitions, bytes
/// and counts those of the last repetition. Throws as above.
std::vector<RoleData> benchmarks_of_process(const nlohmann::json& document,
                                            const std::string& where);

}  // namespace memduel
