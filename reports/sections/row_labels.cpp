#include "sections/row_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/metric_catalogue.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

/// Where peak RSS itself has no row.
bool is_short_for_above_startup(const ResultRow& row, const ResultRows& shown) {
  return row.metric == kPeakRssAboveIdle &&
         std::ranges::none_of(shown.rows,
                              [](const ResultRow& other) { return other.metric == kPeakRss; });
}

bool is_only_time(const ResultRows& shown) {
  return std::ranges::count(shown.rows, std::string(kRoundSeconds), &ResultRow::metric) == 1;
}

}  // namespace

std::string row_label(const JobFacts& job, const ResultRow& row, const ResultRows& shown) {
  if (is_short_for_above_startup(row, shown)) return quantity(job, row.role, std::string(kPeakRss));
  if (row.metric == kRoundSeconds && row.role == job.reference && is_only_time(shown))
    return metric_words(job, row.metric);
  return quantity(job, row.role, row.metric);
}

std::string label_note(const Results& results, const ResultRows& shown) {
  std::vector<std::string> startups;
  for (const ResultRow& row : shown.rows) {
    if (!is_short_for_above_startup(row, shown) || row.comparisons.empty()) continue;
    const Comparison* first = row.comparisons.front();
    const Comparison* startup =
        first == nullptr ? nullptr : results.row(first->candidate, row.role, std::string(kIdleRss));
    if (startup == nullptr || !startup->baseline_median) continue;
    const std::string bytes = format_bytes(*startup->baseline_median);
    startups.push_back(is_only_role(results.job, row.role)
                           ? bytes
                           : fmt::format("{} ({})", bytes, role_words(results.job, row.role)));
  }
  const bool is_short = std::ranges::any_of(
      shown.rows, [&](const ResultRow& row) { return is_short_for_above_startup(row, shown); });
  if (!is_short) return {};
  return "Peak RSS is counted above start-up" +
         (startups.empty() ? "." : fmt::format(", which takes {}.", join_with_and(startups)));
}

}  // namespace memduel
