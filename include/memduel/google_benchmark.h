// Heap use of Google Benchmark's benchmarks, in their console and JSON output. Link the CMake
// target memduel::google_benchmark, and register it in main:
//
//   memduel::BenchmarkMemory memory;
//   benchmark::RegisterMemoryManager(&memory);
//
// Google Benchmark then runs each benchmark once more for at most 16 iterations and reports
// allocs_per_iter, max_bytes_used, total_allocated_bytes and net_heap_growth. `memduel compare
// A.json B.json` reads them. The target's library replaces malloc, free and operator new with
// functions that count and call the next ones; blocks count as what the allocator sets aside for
// them (with glibc 8 or 16 bytes more than their usable size), total_allocated_bytes as what was
// asked for. What the library allocates for itself is left out.
#pragma once

#include <benchmark/benchmark.h>

#include "memduel/heap_window.h"

namespace memduel {

class BenchmarkMemory : public benchmark::MemoryManager {
 public:
  void Start() override {
    memduel_recorder_window_begin_at_callback(++runs_, __builtin_frame_address(0));
  }

  /// max_bytes_used is the peak above what was live before the benchmark's first block.
  void Stop(Result& result) override {
    memduel_heap_window window;
    memduel_recorder_window_end(&window);
    result.num_allocs = window.allocations;
    result.max_bytes_used = window.peak_bytes;
    result.total_allocated_bytes = window.allocated_bytes;
    result.net_heap_growth = window.net_bytes;
  }

  /// What versions before 1.8 ask for.
  void Stop(Result* result) { Stop(*result); }

 private:
  int runs_ = 0;
};

}  // namespace memduel
