// The one table of metrics: what each is called, how it is compared and how much of a change is too
// small to matter. `list metrics`, the verdicts, the gates and docs/method.md all read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/job_facts.h"

namespace memduel {

/// Ratios for sizes and times; differences for slopes and for numbers that may be zero or negative.
enum class Scale { logarithm, difference };

/// The level of an interval or a test before any correction for several of them.
inline constexpr double kAlpha = 0.05;

inline constexpr const char* kHeapGrowth = "heap_growth_bytes_per_round";
inline constexpr const char* kPeakRss = "peak_rss_bytes";
inline constexpr const char* kPeakRssAboveIdle = "peak_rss_above_idle_bytes";

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
};

/// Every metric that memduel itself measures.
const std::vector<MetricInfo>& all_metrics();

/// A metric of the table, or one derived from the unit in the name for gauges and `metric_NAME`.
MetricInfo metric_info(std::string_view name);

/// Whether the name stands in the table.
bool is_known_metric(std::string_view name);

/// Whether the metric is a slope over rounds or minutes.
bool is_growth_metric(std::string_view name);

}  // namespace memduel
