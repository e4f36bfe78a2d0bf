#include "floor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

/// An empty program takes 1 to 2 MiB: the loader, the C library, and the meter.
constexpr double kSmallBytes = 8 << 20;
constexpr double kNear = 2;  ///< times the peak of the empty program

/// Of a variant in which the heap is counted; absent of others.
std::optional<double> median_peak(const RunData& run, const std::string& variant) {
  std::vector<double> peaks;
  for (const TrialData& trial : run.trials)
    if (const auto peak = trial.value(kTree, kPeakRss);
        peak && trial.arm == variant && trial.counts() && trial.value(kTree, kPeakHeap))
      peaks.push_back(*peak);
  return peaks.empty() ? std::nullopt : std::optional(median(std::move(peaks)));
}

std::optional<double> peak_of_empty_program(Experiment experiment, const PlanSite& site,
                                            std::int64_t id, const RunTrial& run_trial) {
  experiment.variants.front().processes.front().argv = {"true"};
  TrialSlot slot;
  slot.id = id;
  const TrialPlan plan = [&] {
    TrialPlan empty = plan_trial(experiment, slot, site).plan;
    empty.text_marks.clear();
    empty.stop_after_round.reset();
    return empty;
  }();
  make_directory(plan.trial_dir);
  const TrialRun run = run_trial(plan);
  std::error_code left;
  std::filesystem::remove_all(plan.trial_dir, left);
  return run.trial.status == TrialStatus::ok ? run.trial.value(kTree, kPeakRss) : std::nullopt;
}

}  // namespace

std::optional<Note> near_floor(const Experiment& experiment, const RunData& so_far,
                               const PlanSite& site, std::int64_t id, const RunTrial& run_trial) {
  std::vector<std::pair<std::string, double>> small;
  for (const Variant& variant : experiment.variants) {
    if (variant.processes.size() != 1) return std::nullopt;
    const auto peak = median_peak(so_far, variant.name);
    if (peak && *peak <= kSmallBytes) small.emplace_back(variant.name, *peak);
  }
  if (small.empty()) return std::nullopt;
  const auto floor = peak_of_empty_program(experiment, site, id, run_trial);
  if (!floor) return std::nullopt;
  const bool is_alone = experiment.variants.size() == 1;
  std::vector<std::string> near;
  for (const auto& [name, peak] : small)
    if (peak <= kNear * *floor)
      near.push_back(is_alone ? format_bytes(peak)
                              : fmt::format("{} ({})", name, format_bytes(peak)));
  if (near.empty()) return std::nullopt;
  return Note{kNearFloor,
              fmt::format("peak RSS of {} is near the {} of an empty program here (the loader, the "
                          "C library and memduel's meter), of which Linux counts up to 32 pages on "
                          "each processor later",
                          fmt::join(near, ", "), format_bytes(*floor)),
              "compare peak heap, which counts only the program's own allocations"};
}

}  // namespace memduel
