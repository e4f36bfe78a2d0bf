#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/experiment_view.h"
#include "model/renamed_since_1.h"
#include "stats/estimates.h"
#include "stats/sample_size.h"
#include "util/error.h"
#include "util/json.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

constexpr const char* kCalibrationSchema = "memduel.calibration/2";
constexpr const char* kFirstCalibrationSchema = "memduel.calibration/1";
constexpr int kFloorDraws = 500;
constexpr double kNormal95 = 1.96;  ///< 95% of normal estimates are within so many deviations

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
    metric.minimum_detectable = shown_size(*found);
}

}  // namespace

Calibration calibrate(const RunData& run, const AnalysisSettings& settings, int blocks_per_duel) {
  const ExperimentView view = view_experiment(run);
  if (view.arms.size() != 2) {
    throw Error(ExitCode::usage, fmt::format("an A/A test compares one program with itself: "
                                             "expected 2 variants, found {}",
                                             view.arms.size()));
  }
  const Observations observations = observe(run, view.arms, settings.warmup_rounds);
  const std::vector<int> blocks = measured_blocks(observations);
  Calibration calibration;
  calibration.blocks = static_cast<int>(blocks.size());
  calibration.blocks_per_duel = blocks_per_duel;
  calibration.experiment = run.config.name;
  calibration.trial_seconds = typical_trial_seconds(run);
  if (run.environment.is_object()) {
    calibration.fingerprint = run.environment.value("fingerprint", std::string());
  }
  if (calibration.blocks < blocks_per_duel) {
    throw Error(ExitCode::cannot_measure,
                fmt::format("{} measured, but one comparison needs {}",
                            format_count(calibration.blocks, "trial each was", "trials each were"),
                            blocks_per_duel));
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

namespace {

struct CalibratedRow : CalibratedMetric {
  std::string role;
  std::string metric;
};

struct CalibrationFile : Calibration {
  std::string schema = kCalibrationSchema;
  std::pair<double, double> interval;
  std::vector<CalibratedRow> rows;
};

}  // namespace

template <>
inline constexpr auto kDescription<CalibratedRow> = described(
    "CalibratedRow", always("role", &CalibratedRow::role), always("metric", &CalibratedRow::metric),
    always("noise_floor", &CalibratedRow::noise_floor),
    always("minimum_detectable", &CalibratedRow::minimum_detectable),
    later("comparisons", &CalibratedRow::duels), later("flagged", &CalibratedRow::flagged));

template <>
inline constexpr auto kDescription<CalibrationFile> = described(
    "Calibration", always("schema", &CalibrationFile::schema),
    always("fingerprint", &CalibrationFile::fingerprint),
    always("experiment", &CalibrationFile::experiment), later("blocks", &CalibrationFile::blocks),
    later("blocks_per_comparison", &CalibrationFile::blocks_per_duel),
    later("gate_rows", &CalibrationFile::gate_rows),
    later("flagged_gate_rows", &CalibrationFile::flagged_gate_rows),
    always("false_positive_rate", &CalibrationFile::false_positive_rate),
    always("false_positive_interval", &CalibrationFile::interval),
    always("trial_seconds", &CalibrationFile::trial_seconds),
    later("metrics", &CalibrationFile::rows));

nlohmann::json calibration_to_json(const Calibration& calibration) {
  CalibrationFile file;
  static_cast<Calibration&>(file) = calibration;
  file.interval = {calibration.false_positive_interval.low,
                   calibration.false_positive_interval.high};
  for (const auto& [name, metric] : calibration.metrics)
    file.rows.push_back({metric, name.role, name.metric});
  return written(file);
}

Calibration calibration_from_json(const nlohmann::json& value, const std::string& where) {
  nlohmann::json document = value;
  const JsonReader in(document, where);
  const auto schema = in.maybe_text("schema");
  if (schema == kFirstCalibrationSchema)
    translate_calibration_1(document);
  else if (schema != kCalibrationSchema)
    in.refuse(fmt::format("schema '{}' or '{}'", kCalibrationSchema, kFirstCalibrationSchema));
  auto file = read_value<CalibrationFile>(in);
  file.false_positive_interval = {file.interval.first, file.interval.second};
  for (const CalibratedRow& row : file.rows) {
    if (row.noise_floor < 0)
      throw Error(ExitCode::io, fmt::format("found a negative noise floor of {}", row.metric),
                  where);
    file.metrics[{row.role, row.metric}] = row;
  }
  return file;
}

}  // namespace memduel
