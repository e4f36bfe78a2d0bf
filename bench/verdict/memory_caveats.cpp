#include "analysis/verdicts/ungated_rss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric_catalogue.h"
#include "base/text.h"

namespace memduel {
namespace {

bool asks_for_rss(const Results& results, const std::string& candidate) {
  return std::ranges::any_of(results.gates, [&](const GateResult& gate) {
    return gate.candidate == candidate && gate.role == kTree && gate.metric == kPeakRss;
  });
}

bool memory_failed(const Results& results, const std::string& candidate) {
  return std::ranges::any_of(results.gates, [&](const GateResult& gate) {
    return gate.candidate == candidate && gate.outcome == GateOutcome::failed &&
           is_known_metric(gate.metric) && metric_info(gate.metric).unit == Unit::bytes;
  });
}

/// The names of the files that the snapshot shows to differ most; empty without one.
std::string files_that_grew(const Results& results, const std::string& candidate) {
  constexpr std::string_view kFile = "file:";
  constexpr double kLeast = 1 << 20;
  constexpr std::size_t kMost = 2;
  std::vector<std::string> names;
  for (const Difference& row : results.differences) {
    const bool is_file = row.candidate == candidate && row.kind == "resident" &&
                         !row.stack.empty() && row.stack.front().starts_with(kFile);
    if (is_file && row.bytes >= kLeast && names.size() < kMost)
      names.push_back(row.stack.front().substr(kFile.size()));
  }
  return names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "));
}

double rise_of(const Comparison& row) {
  return row.candidate_median.value_or(0) - row.baseline_median.value_or(0);
}

/// Decided, or no value of one side within those of the other.
bool is_more(const Comparison& row) {
  return row.verdict == Verdict::regressed || (row.verdict == Verdict::inconclusive && row.apart);
}

/// A gate asks for a row that rises with it.
bool is_told_by_a_gate(const Results& results, const Comparison& rss) {
  constexpr double kMostOfIt = 0.5;
  constexpr std::array<std::string_view, 5> kMemory = {kPeakRss, kPeakRssNoFiles, kPeakSharedOnce,
                                                       kPeakPss, kPeakHeapAndMapped};
  return std::ranges::any_of(results.comparisons, [&](const Comparison& row) {
    return row.candidate == rss.candidate && row.role == rss.role && row.is_asked() &&
           std::ranges::find(kMemory, row.metric) != kMemory.end() &&
           rise_of(row) >= kMostOfIt * rise_of(rss);
  });
}

Note note_of(const Results& results, const Comparison& row) {
  constexpr double kMostOfIt = 0.5;
  const double more = rise_of(row);
  const std::string sizes = fmt::format(
      "{} uses {} more memory at its peak than {} ({} → {}), and no gate asks for {}.{}",
      row.candidate, format_bytes(more), results.baseline, format_bytes(*row.baseline_median),
      format_bytes(*row.candidate_median), row.role, row.metric);
  const std::string gate =
      fmt::format("--gate '{}.{}<=margin' makes it count", row.role, row.metric);
  const Comparison* rest = results.row(row.candidate, row.role, kPeakRssNoFiles);
  if (rest == nullptr) return {"rss_beyond_margin", sizes, gate};
  const double of_files = more - rise_of(*rest);
  if (of_files < kMostOfIt * more) return {"rss_beyond_margin", sizes, gate};
  return {"rss_beyond_margin",
          fmt::format("{}: pages of mapped files{} are {} more, and the kernel can reclaim them, "
                      "written ones once they are on the disk",
                      sizes, files_that_grew(results, row.candidate), format_bytes(of_files)),
          gate};
}

}  // namespace

std::vector<Note> ungated_rss(const Results& results) {
  std::vector<Note> notes;
  for (const Comparison& row : results.comparisons) {
    if (row.role != kTree || row.metric != kPeakRss || !is_more(row)) continue;
    const MetricInfo info = metric_info(kPeakRss);
    const double margin =
        std::max(info.absolute_margin, info.relative_margin * row.baseline_median.value_or(0));
    if (rise_of(row) <= margin || results.gates.empty() || asks_for_rss(results, row.candidate) ||
        memory_failed(results, row.candidate) || is_told_by_a_gate(results, row))
      continue;
    notes.push_back(note_of(results, row));
  }
  return notes;
}

}  // namespace memduel
