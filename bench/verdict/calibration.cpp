#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/experiment_view.h"
#include "stats/estimates.h"
#include "stats/sample_size.h"
#include "util/error.h"
#include "util/json.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

constexpr const char* kCalibrationSchema = "memduel.calibration/1";
constexpr int kFloorDraws = 500;
constexpr double kNormal95 = 1.96;  ///< 95 % of normal estimates are within so many deviations

std::vector<int> measured_blocks(const Observations& observations) {
  std::vector<int> blocks;
  for (const Observation& trial : observations.arms.front().trials) blocks.push_back(trial.block);
  return blocks;
}

std::optional<double> typical_trial_seconds(const RunData& run) {
  std::vector<double> seconds;
  for (const TrialData& trial : run.trials) {
    if (trial.counts()) seconds.push_back(trial.seconds());
  }
  if (seconds.empty()) return std::nullopt;
  return median(std::move(seconds));
}

void count_duel(Calibration& calibration, const Results& duel) {
  for (const Comparison& row : duel.comparisons) {
    CalibratedMetric& metric = calibration.metrics[{row.role, row.metric}];
    const bool flagged = row.is_change();
    ++metric.duels;
    metric.flagged += static_cast<int>(flagged);
    if (!row.gate) continue;
    ++calibration.gate_rows;
    calibration.flagged_gate_rows += static_cast<int>(flagged);
  }
}

void size_metric(CalibratedMetric& metric, const RoleMetric& name, const Observations& observations,
                 int blocks, Design design, unsigned long seed) {
  const MetricInfo info = metric_info(name.metric);
  const RowValues values =
      row_values(observations.arms[0], observations.arms[1], name.role, info, Design::paired);
  const RowScale scale = scale_of(info, values);
  const auto noise = noise_of(scale.of(values.baseline), scale.of(values.candidate));
  if (!noise) return;
  const bool share = info.scale == Scale::logarithm;
  const double typical = std::abs(*scale.typical);
  // Nothing is a share of nothing.
  if (share && typical == 0) return;
  Random random(seed);
  const auto shown_size = [&](double size) {
    if (scale.kind == Scale::logarithm) return std::expm1(size);
    return share ? size / typical : size;
  };
  const EstimateScatter scatter = scatter_of(*noise, blocks, kFloorDraws, random);
  metric.noise_floor = shown_size(kNormal95 * scatter.error);
  if (const auto found = detectable_shift(scatter, blocks, design, kAlpha, margin_of(info, scale)))
    metric.smallest_detectable = shown_size(*found);
}

}  // namespace

Calibration calibrate(const RunData& run, const AnalysisSettings& settings, int blocks_per_duel) {
  const ExperimentView view = view_experiment(run);
  if (view.arms.size() != 2) {
    throw Error(ExitCode::usage,
                fmt::format("a calibration compares one program with itself: found "
                            "{} arms, expected 2",
                            view.arms.size()));
  }
  const Observations observations = observe(run, view.arms, settings.warmup_rounds);
  const std::vector<int> blocks = measured_blocks(observations);
  Calibration calibration;
  calibration.blocks = static_cast<int>(blocks.size());
  calibration.blocks_per_duel = blocks_per_duel;
  calibration.experiment = view.name;
  calibration.trial_seconds = typical_trial_seconds(run);
  if (run.environment.is_object()) {
    calibration.fingerprint = run.environment.value("fingerprint", std::string());
  }
  if (calibration.blocks < blocks_per_duel) {
    throw Error(
        ExitCode::cannot_measure,
        fmt::format("{} measured, one duel needs {}",
                    format_count(calibration.blocks, "block was", "blocks were"), blocks_per_duel));
  }
  AnalysisSettings plain = settings;
  plain.looks = fixed_looks(blocks_per_duel);
  plain.calibration.reset();
  const auto size = static_cast<size_t>(blocks_per_duel);
  for (size_t first = 0; first + size <= blocks.size(); first += size) {
    count_duel(calibration,
               analyse(only_blocks(run, blocks[first], blocks[first + size - 1]), plain));
  }
  for (auto& [name, metric] : calibration.metrics) {
    size_metric(metric, name, observations, blocks_per_duel, settings.design, settings.seed);
  }
  if (calibration.gate_rows > 0) {
    calibration.false_positive_rate =
        static_cast<double>(calibration.flagged_gate_rows) / calibration.gate_rows;
    calibration.false_positive_interval =
        clopper_pearson(calibration.flagged_gate_rows, calibration.gate_rows);
  }
  return calibration;
}

RunData only_blocks(RunData run, int first, int last) {
  std::erase_if(run.trials, [&](const TrialData& trial) {
    return trial.kind == TrialKind::measure && (trial.block < first || trial.block > last);
  });
  return run;
}

std::optional<double> noise_floor(const std::optional<Calibration>& calibration,
                                  const RoleMetric& row) {
  if (!calibration) return std::nullopt;
  const auto at = calibration->metrics.find(row);
  if (at == calibration->metrics.end()) return std::nullopt;
  return at->second.noise_floor;
}

nlohmann::json calibration_to_json(const Calibration& calibration) {
  nlohmann::json metrics = nlohmann::json::array();
  for (const auto& [name, metric] : calibration.metrics) {
    metrics.push_back({{"role", name.role},
                       {"metric", name.metric},
                       {"noise_floor", metric.noise_floor},
                       {"smallest_detectable", written(metric.smallest_detectable)},
                       {"duels", metric.duels},
                       {"flagged", metric.flagged}});
  }
  return {{"schema", kCalibrationSchema},
          {"fingerprint", calibration.fingerprint},
          {"experiment", calibration.experiment},
          {"blocks", calibration.blocks},
          {"blocks_per_duel", calibration.blocks_per_duel},
          {"gate_rows", calibration.gate_rows},
          {"flagged_gate_rows", calibration.flagged_gate_rows},
          {"false_positive_rate", calibration.false_positive_rate},
          {"false_positive_interval",
           {calibration.false_positive_interval.low, calibration.false_positive_interval.high}},
          {"trial_seconds", written(calibration.trial_seconds)},
          {"metrics", metrics}};
}

Calibration calibration_from_json(const nlohmann::json& value, const std::string& where) {
  const JsonReader in(value, where);
  if (in.maybe_text("schema") != kCalibrationSchema)
    in.refuse(fmt::format("schema '{}'", kCalibrationSchema));
  Calibration calibration;
  calibration.fingerprint = in.at("fingerprint").text();
  calibration.experiment = in.at("experiment").text();
  calibration.blocks = in.maybe_int("blocks").value_or(0);
  calibration.blocks_per_duel = in.maybe_int("blocks_per_duel").value_or(0);
  calibration.gate_rows = in.maybe_int("gate_rows").value_or(0);
  calibration.flagged_gate_rows = in.maybe_int("flagged_gate_rows").value_or(0);
  calibration.false_positive_rate = in.at("false_positive_rate").number();
  calibration.trial_seconds = in.maybe_number("trial_seconds");
  const std::vector<JsonReader> interval = in.at("false_positive_interval").elements();
  if (interval.size() != 2) in.at("false_positive_interval").refuse("two numbers");
  calibration.false_positive_interval = {interval[0].number(), interval[1].number()};
  for (const JsonReader& row : in.list("metrics")) {
    CalibratedMetric metric;
    metric.noise_floor = row.at("noise_floor").number();
    if (metric.noise_floor < 0) row.at("noise_floor").refuse("a number that is not negative");
    metric.smallest_detectable = row.maybe_number("smallest_detectable");
    metric.duels = row.maybe_int("duels").value_or(0);
    metric.flagged = row.maybe_int("flagged").value_or(0);
    calibration.metrics[{row.at("role").text(), row.at("metric").text()}] = metric;
  }
  return calibration;
}

}  // namespace memduel
