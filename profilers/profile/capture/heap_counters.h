// The exact counters that the recorder keeps for each process image, read back: the numbers of the
// meter `heap`. Works on a running process, a finished one and one that was killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profilers/profile/model/heap_totals.h"

namespace memduel {

/// A round (phase empty) or one stretch of a process-wide phase. Bytes are block bytes (see
/// profilers/recorder/layout.h) but for allocated_bytes, which are requested bytes. Times are
/// CLOCK_MONOTONIC nanoseconds.
struct HeapScope {
  int round = 0;  ///< 0 outside rounds
  std::string phase;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  ///< 0 while it runs, or when the process died in it
  std::int64_t live_begin_bytes = 0;
  std::int64_t live_end_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t mapping_peak_bytes = 0;
  std::int64_t mapping_end_bytes = 0;
  std::int64_t together_peak_bytes = 0;  ///< of heap and mappings below kSparseBytes
  std::int64_t together_end_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t allocations = 0;
};

struct HeapCounters : HeapTotals {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::int64_t started_ns = 0;
  std::int64_t ended_ns = 0;  ///< 0: not known
  std::string program;        ///< /proc/self/exe
  std::string allocator;      ///< file that malloc comes from
  std::string mode;           ///< count, sampled or exact
  bool finished = false;  ///< ended through exit, _exit, abort or exec, not by a signal or inside
                          ///< libc (daemon(3))
  bool forked = false;    ///< a forked child that has not executed a program
  bool shut_out = false;  ///< it executed a program as a user who may not write its records
  bool replaced = false;  ///< it executed another program
  bool left_behind = false;  ///< it executed a program with an environment without the recorder
  std::int64_t inherited_bytes = 0;  ///< part of live_bytes that was there at the fork
  std::int64_t mapped_bytes = 0;
  std::int64_t mappings = 0;
  std::int64_t inherited_mapping_bytes = 0;  ///< part of mapping_bytes that was there at the fork
  std::int64_t dense_bytes = 0;              ///< part of mapping_bytes below kSparseBytes each
  std::int64_t inherited_dense_bytes = 0;    ///< likewise of dense_bytes
  std::int64_t file_peak_bytes = 0;          ///< resident pages of mapped files; 0: nobody looked
  bool has_sparse = false;  ///< it had mappings of kSparseBytes or more: what is touched is sampled
  std::vector<HeapScope> scopes;  ///< in the order they ended, then the running ones

  /// The process image with the most is the largest of several. The heap alone would hide
  /// interpreters and compilers, which map most of their memory themselves. What a forked process
  /// inherited is its parent's.
  [[nodiscard]] std::int64_t size_bytes() const {
    // One that was killed has not looked a last time how much of its large mappings is touched.
    if (!finished && has_sparse)
      return peak_bytes - inherited_bytes + mapping_peak_bytes - inherited_mapping_bytes;
    return together_peak_bytes - inherited_bytes - inherited_dense_bytes;
  }
  /// Whether the process lives on, as a daemon does that its starter has left.
  [[nodiscard]] bool still_runs() const;
  /// How far live and peak bytes may be off: 0 for one thread that ended by itself, 64 KiB per
  /// thread otherwise.
  [[nodiscard]] std::int64_t uncertainty_bytes() const;
};

/// How people are told which image is the largest.
inline constexpr const char* kLargestBy = "by peak heap and mappings";

/// Reads one `.heap` file. Throws Error(io) naming the file and what is wrong with it.
HeapCounters read_heap_counters(const std::filesystem::path& file);

struct HeapImages {
  std::vector<HeapCounters> images;     ///< in the order they started
  std::vector<std::string> unreadable;  ///< what is wrong with the others, each naming its file
};

/// What the images that ran in `directory` left. Throws Error(io) when the directory cannot be
/// read.
HeapImages read_heap_directory(const std::filesystem::path& directory);

}  // namespace memduel
