#include "analysis/questions/held_memory.h"

#include <algorithm>
#include <cmath>

#include "base/metric_catalogue.h"

namespace memduel {
namespace {

constexpr double kLeastBytes = 16 << 20;
constexpr double kLeastShare = 0.1;

/// Of any row in which the arm stands.
std::optional<double> median_of(const Results& results, const std::string& arm,
                                const std::string& role, std::string_view metric) {
  for (const Comparison& row : results.comparisons) {
    if (row.role != role || row.metric != metric) continue;
    if (row.candidate == arm) return row.candidate_median;
    if (results.baseline == arm) return row.baseline_median;
  }
  return std::nullopt;
}

}  // namespace

std::optional<HeldMemory> held_memory(const Results& results, const std::string& arm) {
  std::optional<HeldMemory> most;
  for (const Comparison& row : results.comparisons) {
    if (row.metric != kHeapHeldFree) continue;
    const auto held = median_of(results, arm, row.role, row.metric);
    const auto peak = median_of(results, arm, row.role, kPeakRss);
    const auto arenas = median_of(results, arm, row.role, kAllocatorArenaCount);
    if (!held || !peak || !arenas || *peak <= 0) continue;
    if (*held < kLeastBytes || *held < kLeastShare * *peak) continue;
    if (!most || *held > most->bytes)
      most = HeldMemory{row.role, *held, static_cast<int>(std::lround(*arenas))};
  }
  return most;
}

}  // namespace memduel
