#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "model/experiment_view.h"
#include "stats/estimates.h"
#include "stats/sample_size.h"
#include "stats/samples.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

constexpr double kWideInterval = 4;

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

/// What a change must be found in.
struct Finding {
  double change = 0;  ///< on the row's scale, and so is
  double margin = 0;
  Design design = Design::restricted;
  double alpha = kAlpha;
};

/// Of the trials of each arm around their own mean. Nothing where a trial failed.
std::optional<double> spread_of(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (const std::vector<double>* arm : {&a, &b}) {
    const double mean =
        std::accumulate(arm->begin(), arm->end(), 0.0) / static_cast<double>(arm->size());
    for (const double x : *arm) squares += (x - mean) * (x - mean);
  }
  const double spread = std::sqrt(squares / static_cast<double>(a.size() + b.size() - 2));
  return std::isfinite(spread) ? std::optional(spread) : std::nullopt;
}

/// How far the true variance may be from that of two arms of so many blocks, as a factor.
Interval variance_factors(int blocks) {
  const double freedom = 2.0 * (blocks - 1);
  const boost::math::chi_squared chi_squared(freedom);
  return {freedom / boost::math::quantile(chi_squared, 1 - kAlpha / 2),
          freedom / boost::math::quantile(chi_squared, kAlpha / 2)};
}

/// The smallest number of blocks in which the change is found.
std::optional<int> blocks_for(double spread, const Finding& finding) {
  const double z80 = boost::math::quantile(boost::math::normal(), kPower);
  for (int blocks = kMinimumBlocks; blocks <= kMostPlannedBlocks; ++blocks) {
    const double error = spread * std::sqrt(2.0 / blocks);
    const auto detectable = detectable_shift({error, z80 * error}, blocks, finding.design,
                                             finding.alpha, finding.margin);
    if (detectable && *detectable <= finding.change) return blocks;
  }
  return std::nullopt;
}

std::optional<PlannedBlocks> planned_blocks_for(double spread, int probed, const Finding& finding) {
  const auto blocks = blocks_for(spread, finding);
  if (!blocks) return std::nullopt;
  const Interval factors = variance_factors(probed);
  return PlannedBlocks{*blocks,
                       blocks_for(spread * std::sqrt(factors.low), finding).value_or(*blocks),
                       blocks_for(spread * std::sqrt(factors.high), finding)};
}

PlannedRow plan_row(const RoleMetric& name, const MetricInfo& metric, const RowValues& values,
                    double change, Finding finding) {
  PlannedRow planned{name, std::nullopt, {}};
  if (metric.scale == Scale::difference) {
    planned.reason =
        "a percentage of a slope or a ratio has no meaning; see its minimum detectable effect";
    return planned;
  }
  const RowScale scale = scale_of(metric, values);
  const auto probed = static_cast<int>(std::min(values.baseline.size(), values.candidate.size()));
  const auto spread = probed < kMinimumBlocks
                          ? std::nullopt
                          : spread_of(scale.of(values.baseline), scale.of(values.candidate));
  if (!spread) {
    planned.reason = probed < kMinimumBlocks
                         ? fmt::format("{} usable {} each, but {} are needed", probed,
                                       probed == 1 ? "trial" : "trials", kMinimumBlocks)
                         : std::string("a trial failed");
    return planned;
  }
  finding.change = scale.share(change);
  finding.margin = margin_of(metric, scale);
  if (finding.change < finding.margin) {
    planned.reason = fmt::format("below the margin of {}, so the verdict would be unchanged",
                                 scale.describe_size(finding.margin));
    return planned;
  }
  planned.blocks = planned_blocks_for(*spread, probed, finding);
  if (!planned.blocks) planned.reason = fmt::format("more than {} trials each", kMostPlannedBlocks);
  return planned;
}

void sum_up(DuelPlan& plan) {
  for (const PlannedRow& row : plan.rows) {
    if (!row.blocks) continue;
    if (!plan.blocks) plan.blocks = row.blocks;
    PlannedBlocks& all = *plan.blocks;
    all.blocks = std::max(all.blocks, row.blocks->blocks);
    all.low = std::max(all.low, row.blocks->low);
    if (!row.blocks->high) all.high.reset();
    if (all.high) all.high = std::max(*all.high, *row.blocks->high);
  }
}

std::string describe_blocks(const PlannedBlocks& planned) {
  return fmt::format("{} trials each (95% CI {} to {})", planned.blocks, planned.low,
                     planned.high ? std::to_string(*planned.high)
                                  : fmt::format("more than {}", kMostPlannedBlocks));
}

}  // namespace

bool DuelPlan::is_from_too_few() const {
  return blocks && probed_blocks < blocks_to_plan_from() &&
         (!blocks->high || *blocks->high > kWideInterval * blocks->low);
}

int blocks_to_plan_from() {
  int blocks = kMinimumBlocks;
  for (;; ++blocks) {
    const Interval factors = variance_factors(blocks);
    if (factors.high <= kWideInterval * factors.low) return blocks;
  }
}

DuelPlan plan_duel(const RunData& run, const AnalysisSettings& settings, double change,
                   std::optional<int> comparisons) {
  DuelPlan plan;
  plan.change = change;
  plan.block_seconds = typical_block_seconds(run);
  const ExperimentView view = view_experiment(run);
  if (view.arms.size() < 2) return plan;
  const Observations observations = observe(run, view.arms, settings.warmup_rounds);
  const Results results = analyse(run, settings);
  const auto rows = static_cast<int>(
      std::ranges::count_if(results.comparisons, [](const Comparison& row) { return row.gate; }));
  Finding finding;
  finding.design = settings.design;
  finding.alpha = kAlpha / std::max(1, comparisons.value_or(rows));
  for (const Comparison& row : results.comparisons) {
    if (!row.gate || row.candidate != view.arms[1]) continue;
    const MetricInfo info = metric_info(run.job, row.metric);
    const RowValues values =
        row_values(observations.arms[0], observations.arms[1], row.role, info, Design::paired);
    plan.probed_blocks = std::max(plan.probed_blocks, static_cast<int>(values.baseline.size()));
    plan.rows.push_back(plan_row({row.role, row.metric}, info, values, change, finding));
  }
  sum_up(plan);
  return plan;
}

DuelPlan plan_duel(const Calibration& calibration, const std::vector<Gate>& gates, double change,
                   int arms) {
  DuelPlan plan;
  plan.change = change;
  plan.probed_blocks = calibration.blocks;
  const int least =
      least_trials(std::max(1, static_cast<int>(gates.size()) * (arms - 1)), Design::restricted);
  const Interval factors = variance_factors(std::max(kMinimumBlocks, calibration.blocks));
  if (calibration.trial_seconds) plan.block_seconds = *calibration.trial_seconds * arms;
  for (const Gate& gate : gates) {
    PlannedRow row{{gate.role, gate.metric}, std::nullopt, {}};
    const auto at = calibration.metrics.find(row.row);
    if (at == calibration.metrics.end() || !at->second.minimum_detectable) {
      row.reason = "not in the calibration";
    } else if (metric_info(gate.metric).scale == Scale::difference) {
      row.reason = "a percentage of a slope or a ratio has no meaning";
    } else {
      const double scale = *at->second.minimum_detectable / change;
      const auto blocks = [&](double factor) -> std::optional<int> {
        const double needed = std::ceil(calibration.blocks_per_duel * scale * scale * factor);
        if (needed > kMostPlannedBlocks) return std::nullopt;
        return std::max(least, static_cast<int>(needed));
      };
      if (const auto needed = blocks(1))
        row.blocks = {*needed, blocks(factors.low).value_or(*needed), blocks(factors.high)};
      else
        row.reason = fmt::format("more than {} trials each", kMostPlannedBlocks);
    }
    plan.rows.push_back(std::move(row));
  }
  sum_up(plan);
  return plan;
}

std::string describe_plan(const DuelPlan& plan) {
  std::string text;
  if (plan.blocks) {
    text = describe_blocks(*plan.blocks);
    if (plan.block_seconds)
      text += fmt::format(", about {}", format_seconds(*plan.block_seconds * plan.blocks->blocks));
    text += fmt::format(", detect a change of {:g}% with 80% power\n", 100 * plan.change);
  } else {
    text = fmt::format("no gate can be planned for a change of {:g}%\n", 100 * plan.change);
  }
  for (const PlannedRow& row : plan.rows) {
    text += fmt::format("  {}.{}: {}\n", row.row.role, row.row.metric,
                        row.blocks ? describe_blocks(*row.blocks) : row.reason);
  }
  if (plan.is_from_too_few())
    text += fmt::format(
        "{} trials each are too few for a precise plan: with {} the ends of the CI differ by a "
        "factor of {:g}\n",
        plan.probed_blocks, blocks_to_plan_from(), kWideInterval);
  return text;
}

}  // namespace memduel
