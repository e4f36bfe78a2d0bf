#include "analysis/questions/duel_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/statistics/power.h"
#include "analysis/values/experiment_view.h"
#include "analysis/values/interval.h"
#include "analysis/verdicts/comparison.h"
#include "base/text.h"

namespace memduel {
namespace {

constexpr std::array<int, 14> kSizes = {5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 32, 40};
constexpr int kMostBlocks = 1000;
constexpr int kDraws = 100;

std::optional<double> typical_block_seconds(const RunData& run) {
  std::map<int, std::pair<std::int64_t, std::int64_t>> span;
  for (const TrialData& trial : run.trials) {
    if (trial.kind != TrialKind::measure || trial.end_ns <= trial.begin_ns) continue;
    const auto [at, fresh] = span.try_emplace(trial.block, trial.begin_ns, trial.end_ns);
    at->second.first = std::min(at->second.first, trial.begin_ns);
    at->second.second = std::max(at->second.second, trial.end_ns);
  }
  if (span.empty()) return std::nullopt;
  std::vector<double> seconds;
  for (const auto& [block, ends] : span) {
    seconds.push_back(static_cast<double>(ends.second - ends.first) * 1e-9);
  }
  return median(std::move(seconds));
}

/// The smallest size at which `change` (on the noise's scale) is found at this level.
std::optional<int> blocks_for(const Noise& noise, double change, double margin, Design design,
                              double alpha, unsigned long seed) {
  std::optional<double> detectable;
  for (const int blocks : kSizes) {
    Random random(seed);
    detectable =
        detectable_shift(scatter_of(noise, blocks, kDraws, random), blocks, design, alpha, margin);
    if (detectable && *detectable <= change) return blocks;
  }
  if (!detectable) return std::nullopt;
  const double needed = std::ceil(kSizes.back() * (*detectable / change) * (*detectable / change));
  if (!std::isfinite(needed) || needed > kMostBlocks) return std::nullopt;
  return static_cast<int>(needed);
}

PlannedRow plan_row(const MeasuredRow& row, double change, Design design, double alpha,
                    unsigned long seed) {
  PlannedRow planned{{row.comparison.role, row.metric.name}, std::nullopt, {}};
  if (row.metric.scale == Scale::difference) {
    planned.reason =
        "a share of a slope or a ratio means nothing; see its smallest detectable change";
    return planned;
  }
  const auto noise =
      noise_of(on_scale(row.values.baseline, row.scale), on_scale(row.values.candidate, row.scale));
  if (!noise) {
    planned.reason = fmt::format("{} usable blocks, five are needed", row.comparison.n_baseline);
    return planned;
  }
  const double size = share_on_scale(row, change);
  if (size < row.margin) {
    planned.reason = fmt::format("below the margin of {}: it would be called unchanged",
                                 describe_size(row, row.margin));
    return planned;
  }
  planned.blocks = blocks_for(*noise, size, row.margin, design, alpha, seed);
  if (!planned.blocks) planned.reason = fmt::format("more than {} blocks", kMostBlocks);
  return planned;
}

void sum_up(DuelPlan& plan) {
  for (const PlannedRow& row : plan.rows) {
    if (row.blocks) plan.blocks = std::max(plan.blocks.value_or(0), *row.blocks);
  }
}

}  // namespace

DuelPlan plan_duel(const RunData& run, const AnalysisSettings& settings, double change) {
  DuelPlan plan;
  plan.change = change;
  plan.block_seconds = typical_block_seconds(run);
  const ExperimentView view = view_experiment(run);
  if (view.arms.size() < 2) return plan;
  const Observations observations = observe(run, view.arms, settings.warmup_rounds);
  const Results results = analyse(run, settings);
  const auto gates = static_cast<double>(std::max<std::ptrdiff_t>(
      1,
      std::ranges::count_if(results.comparisons, [](const Comparison& row) { return row.gate; })));
  for (const Comparison& row : results.comparisons) {
    if (!row.gate || row.candidate != view.arms[1]) continue;
    const MetricInfo info = metric_info(run.job, row.metric);
    MeasuredRow measured = measure_values(
        info,
        row_values(observations.arms[0], observations.arms[1], row.role, info, Design::paired));
    measured.comparison.role = row.role;
    plan.rows.push_back(plan_row(measured, change, settings.design, kAlpha / gates, settings.seed));
  }
  sum_up(plan);
  return plan;
}

DuelPlan plan_duel(const Calibration& calibration, const std::vector<Gate>& gates, double change,
                   int arms) {
  DuelPlan plan;
  plan.change = change;
  if (calibration.trial_seconds) plan.block_seconds = *calibration.trial_seconds * arms;
  for (const Gate& gate : gates) {
    PlannedRow row{{gate.role, gate.metric}, std::nullopt, {}};
    const auto at = calibration.metrics.find(row.row);
    if (at == calibration.metrics.end() || !at->second.smallest_detectable) {
      row.reason = "not in the calibration";
    } else if (metric_info(gate.metric).scale == Scale::difference) {
      row.reason = "a share of a slope or a ratio means nothing";
    } else {
      const double scale = *at->second.smallest_detectable / change;
      const double needed = std::ceil(calibration.blocks_per_duel * scale * scale);
      if (needed <= kMostBlocks) {
        row.blocks = std::max(kMinimumBlocks, static_cast<int>(needed));
      } else {
        row.reason = fmt::format("more than {} blocks", kMostBlocks);
      }
    }
    plan.rows.push_back(std::move(row));
  }
  sum_up(plan);
  return plan;
}

std::string describe_plan(const DuelPlan& plan) {
  std::string text;
  if (plan.blocks) {
    text = fmt::format("{} blocks", *plan.blocks);
    if (plan.block_seconds) {
      text += fmt::format(", about {}", format_seconds(*plan.block_seconds * *plan.blocks));
    }
    text += fmt::format(", find a change of {:g} % with 80 % probability\n", 100 * plan.change);
  } else {
    text = fmt::format("no gate row can be planned for a change of {:g} %\n", 100 * plan.change);
  }
  for (const PlannedRow& row : plan.rows) {
    text += fmt::format("  {}.{}: {}\n", row.row.role, row.row.metric,
                        row.blocks ? fmt::format("{} blocks", *row.blocks) : row.reason);
  }
  return text;
}

}  // namespace memduel
