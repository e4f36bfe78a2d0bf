// Google Benchmark's JSON as a run: roles are benchmarks, trials are repetitions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/analyse.h"

namespace memduel {

/// Whether the document looks like Google Benchmark's output.
bool is_google_benchmark(const nlohmann::json& document);

/// Times in seconds (real_time_seconds, cpu_time_seconds) and the MemoryManager's numbers
/// (peak_heap_bytes from max_bytes_used, allocated_bytes from total_allocated_bytes,
/// allocation_count from allocs_per_iter, net_heap_growth_bytes). Aggregates are left out. Throws
/// Error(io) that names the place for anything else than that format.
RunData run_from_google_benchmark(const nlohmann::json& document, const std::string& where);

/// B against A by the unpaired exact test; limitations say when there are too few repetitions,
/// where compare.py's U test accepts two, and that repetitions share one process.
Results compare_google_benchmarks(const nlohmann::json& a, const std::string& where_a,
                                  const nlohmann::json& b, const std::string& where_b,
                                  const AnalysisSettings& settings);

}  // namespace memduel
