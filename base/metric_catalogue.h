// The one table of metrics: what each is called, which meter gives it, how it is compared, how much
// of a change is too small to matter, and how a sentence speaks of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// Ratios for sizes and times; differences for slopes and for numbers that may be zero or negative.
enum class Scale { logarithm, difference };

// Names that code speaks of.
inline constexpr const char* kHeapGrowth = "heap_growth_bytes_per_round";
inline constexpr const char* kPeakRss = "peak_rss_bytes";
inline constexpr const char* kPeakRssAboveIdle = "peak_rss_above_idle_bytes";
inline constexpr const char* kIdleRss = "idle_rss_bytes";
inline constexpr const char* kEndRss = "end_rss_bytes";
inline constexpr const char* kPeakHeap = "peak_heap_bytes";
inline constexpr const char* kRoundSeconds = "round_seconds";
inline constexpr const char* kRssGrowthPerRound = "rss_growth_bytes_per_round";
inline constexpr const char* kRssGrowthPerMinute = "rss_growth_bytes_per_minute";
inline constexpr const char* kCpuSeconds = "cpu_seconds";
inline constexpr const char* kPeakPss = "peak_pss_bytes";
inline constexpr const char* kAllocatedBytes = "allocated_bytes";
inline constexpr const char* kTransferSeconds = "transfer_seconds";
inline constexpr const char* kEndHeap = "end_heap_bytes";

enum class Unit { bytes, bytes_per_round, bytes_per_minute, seconds, ratio, count, number };

struct MetricInfo {
  std::string name;
  Unit unit = Unit::number;
  bool lower_is_better = true;
  Scale scale = Scale::logarithm;
  double relative_margin = 0;  ///< share of the baseline's median: 0.01 is 1 %
  double absolute_margin = 0;  ///< in the metric's unit; the larger of the two counts
  bool exact =
      false;  ///< repeats to the byte in a deterministic program; two trials are enough then
  std::string summary;
  std::string_view meter;  ///< empty: of marks, or worked out from other metrics
  std::string_view verb;   ///< "{arm} {verb} 12 % LESS {role} {noun}"
  std::string_view noun;   ///< empty: sentences give the name instead
  bool is_key = false;     ///< shown where there is room for a few
};

/// What memduel measures of any program: a number that a program prints never takes its place.
bool is_measured_of_any_program(std::string_view name);

/// Of the table, in its order.
std::vector<std::string> metrics_of_meter(std::string_view meter);

/// Every metric that memduel itself measures.
const std::vector<MetricInfo>& all_metrics();

/// A metric of the table, or one derived from the unit in the name for gauges and `metric_NAME`.
MetricInfo metric_info(std::string_view name);

/// Whether the name stands in the table.
bool is_known_metric(std::string_view name);

/// Whether the metric is a slope over rounds or minutes.
bool is_growth_metric(std::string_view name);

}  // namespace memduel
