// The one table of metrics: what each is called, which meter gives it, how it is compared, how much
// of a change is too small to matter, and the words that reports print for it.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "util/reflection.h"

namespace memduel {

/// Ratios for sizes and times; differences for slopes and for numbers that may be zero or negative.
enum class Scale { logarithm, difference };

/// The role of all processes together.
inline constexpr const char* kTree = "all";
/// The role of a command that is held against another.
inline constexpr const char* kCommand = "command";

// Names that code speaks of.
inline constexpr const char* kHeapGrowth = "heap_growth_bytes_per_round";
inline constexpr const char* kPeakRss = "peak_rss_bytes";
inline constexpr const char* kPeakRssNoFiles = "peak_rss_no_files_bytes";
inline constexpr const char* kPeakRssAboveIdle = "peak_rss_above_idle_bytes";
inline constexpr const char* kIdleRss = "idle_rss_bytes";
inline constexpr const char* kPeakLargestProcess = "peak_largest_process_rss_bytes";
inline constexpr const char* kEndRss = "end_rss_bytes";
inline constexpr const char* kPeakHeap = "peak_heap_bytes";
inline constexpr const char* kPeakMapped = "peak_mapped_bytes";
inline constexpr const char* kEndMapped = "end_mapped_bytes";
inline constexpr const char* kPeakHeapAndMapped = "peak_heap_and_mapped_bytes";
inline constexpr const char* kEndHeapAndMapped = "end_heap_and_mapped_bytes";
inline constexpr const char* kRoundSeconds = "round_seconds";
inline constexpr const char* kRssGrowthPerRound = "rss_growth_bytes_per_round";
inline constexpr const char* kRssGrowthPerMinute = "rss_growth_bytes_per_minute";
inline constexpr const char* kCpuSeconds = "cpu_seconds";
inline constexpr const char* kPeakPss = "peak_pss_bytes";
inline constexpr const char* kAllocatedBytes = "allocated_bytes";
inline constexpr const char* kTransferSeconds = "transfer_seconds";
inline constexpr const char* kEndHeap = "end_heap_bytes";
inline constexpr const char* kHeapInUse = "heap_in_use_bytes";
inline constexpr const char* kHeapHeldFree = "heap_free_bytes";
inline constexpr const char* kPeakRssAnon = "peak_rss_anon_bytes";
inline constexpr const char* kPeakRssFile = "peak_rss_file_bytes";
inline constexpr const char* kPeakCgroup = "peak_cgroup_bytes";
inline constexpr const char* kPeakCgroupAnon = "peak_cgroup_anon_bytes";
inline constexpr const char* kPeakCgroupFile = "peak_cgroup_file_bytes";
inline constexpr const char* kPeakCgroupShmem = "peak_cgroup_shmem_bytes";
inline constexpr const char* kPeakCgroupKernel = "peak_cgroup_kernel_bytes";
inline constexpr const char* kPeakSharedOnce = "peak_shared_once_bytes";
inline constexpr const char* kRssCountedAgain = "rss_counted_again_bytes";
inline constexpr const char* kPeakGpuAllocated = "peak_gpu_allocated_bytes";
inline constexpr const char* kPeakGpuReserved = "peak_gpu_reserved_bytes";
inline constexpr const char* kIdleGpuReserved = "idle_gpu_reserved_bytes";
inline constexpr const char* kGpuInactiveSplit = "gpu_inactive_split_bytes";
inline constexpr const char* kIdleGpuUsed = "idle_gpu_used_bytes";
inline constexpr const char* kPeakGpuUsedAboveIdle = "peak_gpu_used_above_idle_bytes";
inline constexpr const char* kGpuAllocated = "gpu_allocated_bytes";
inline constexpr const char* kGpuReserved = "gpu_reserved_bytes";
inline constexpr const char* kGpuUsed = "gpu_used_bytes";
inline constexpr const char* kPeakTorchCpu = "peak_torch_cpu_bytes";
inline constexpr const char* kTorchCpu = "torch_cpu_bytes";
inline constexpr const char* kLiveAtEnd = "live_at_end_bytes";
inline constexpr const char* kAllocationCount = "allocation_count";
inline constexpr const char* kCleanupRatio = "cleanup_ratio";
inline constexpr const char* kCleanupSeconds = "cleanup_seconds";
inline constexpr const char* kHeapCleanupSeconds = "heap_cleanup_seconds";
inline constexpr const char* kMajorFaults = "major_faults_count";
inline constexpr const char* kMinorFaults = "minor_faults_count";
inline constexpr const char* kEndPss = "end_pss_bytes";
inline constexpr const char* kRealTimeSeconds = "real_time_seconds";
inline constexpr const char* kCpuTimeSeconds = "cpu_time_seconds";
inline constexpr const char* kSwapped = "swapped_bytes";
inline constexpr const char* kTrainAccuracy = "train_accuracy_ratio";
inline constexpr const char* kTrainLoss = "train_loss";
inline constexpr const char* kValidationAccuracy = "validation_accuracy_ratio";
inline constexpr const char* kNetHeapGrowth = "net_heap_growth_bytes";
inline constexpr const char* kAllocatorArenaCount = "allocator_arena_count";

enum class Unit { bytes, bytes_per_round, bytes_per_minute, seconds, ratio, count, number };

/// Which values of a metric are better. The table states it for its metrics; a program's own metric
/// has none unless a config, a log pattern or the program declares it: it is never guessed.
enum class Direction { undeclared, lower, higher };
template <>
inline constexpr NameTable<Direction, 3> kNameTable<Direction> = {
    {{Direction::undeclared, "undeclared"},
     {Direction::lower, "lower"},
     {Direction::higher, "higher"}}};

/// What a config, a log pattern or a program says of a metric.
struct DeclaredDirection {
  std::string metric;
  Direction better = Direction::undeclared;
  auto operator<=>(const DeclaredDirection&) const = default;
};

/// How the value of all processes together follows from the roles'.
enum class OfAll {
  own,            ///< it does not: it is measured, or computed otherwise
  sum,            ///< over all roles; absent if one lacks it
  sum_of_started  ///< likewise, without roles of descendants, whose share is in their parents'
};

struct MetricInfo {
  std::string name;
  Unit unit = Unit::number;
  Direction better = Direction::undeclared;
  Scale scale = Scale::logarithm;
  double relative_margin = 0;  ///< share of the baseline's median: 0.01 is 1%
  double absolute_margin = 0;  ///< in the metric's unit; the larger of the two counts
  bool exact =
      false;  ///< repeats to the byte in a deterministic program; two trials are enough then
  std::string summary;
  std::string_view meter;    ///< empty: of marks, or worked out from other metrics
  std::string_view display;  ///< "peak RSS"; empty: reports print the name instead
  bool is_key = false;       ///< shown where there is room for a few
  OfAll of_all = OfAll::own;
  /// The samples of a meter whose largest it is, of a role and of all processes; empty: it is not.
  std::string_view series;
};

/// What memduel measures of any program: a number that a program prints never takes its place.
bool is_measured_of_any_program(std::string_view name);

/// Of the table, in its order.
std::vector<std::string> metrics_of_meter(std::string_view meter);

/// Every metric that memduel itself measures.
const std::vector<MetricInfo>& all_metrics();

/// A metric of the table, or one derived from the unit in the name for gauges and `metric_NAME`,
/// without a direction (see the overload in job_facts.h for what a run declares).
MetricInfo metric_info(std::string_view name);

/// Whether the name stands in the table.
bool is_known_metric(std::string_view name);

/// "minor_faults" of "minor_faults_count".
std::string_view name_without_unit(std::string_view name);

/// "peak_rss_bytes" of "peak_rss", and "minor_faults_count" of "minor_faults": short names, and
/// names of several words without a unit if that is clear. Another name is returned as it is.
std::string metric_of_short_name(std::string_view name);

/// Those of the metrics that one command is most often asked about.
std::vector<std::string> short_metric_names();

/// Whether the metric is a slope over rounds or minutes.
bool is_growth_metric(std::string_view name);

// How a worker says that memory ran short: gauges of the round, with the share that was used, 0 to
// 1. The trial's warnings are made of them.

inline constexpr const char* kMemoryWarningGauge = "memory_warning_ratio";
inline constexpr const char* kMemoryCriticalGauge = "memory_critical_ratio";

}  // namespace memduel
