// What is known of an environment's noise from duels of a program against itself.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/values/interval.h"
#include "base/metric_catalogue.h"
#include "base/run_data.h"

namespace memduel {

struct AnalysisSettings;

struct CalibratedMetric {
  /// 95 % of duels of the program against itself stay below this apparent change: a share for
  /// metrics on the ratio scale, else in the metric's unit.
  double noise_floor = 0;
  /// Smallest change found with 80 % probability; in the same terms.
  std::optional<double> smallest_detectable;
  int duels = 0;
  int flagged = 0;  ///< duels that were called improved or regressed
};

/// Kept per environment fingerprint.
struct Calibration {
  std::string fingerprint;
  std::string experiment;
  int blocks = 0;           ///< measured
  int blocks_per_duel = 0;  ///< the size of duel the numbers hold for
  int gate_rows = 0;        ///< disjoint duels times gate rows
  int flagged_gate_rows = 0;
  double false_positive_rate = 0;          ///< flagged_gate_rows / gate_rows
  Interval false_positive_interval{0, 1};  ///< Clopper and Pearson 1934, 95 %
  std::optional<double> trial_seconds;     ///< median of one execution
  std::map<RoleMetric, CalibratedMetric> metrics;
};

/// From a run of the baseline against one other arm that is the same program: the blocks are cut
/// into disjoint duels of `blocks_per_duel` for the false verdicts; the noise floor comes from
/// duels drawn from all blocks with the arms exchanged by chance. Throws Error(cannot_measure) with
/// fewer blocks than one duel, Error(usage) when the run has not exactly two arms.
Calibration calibrate(const RunData& run, const AnalysisSettings& settings, int blocks_per_duel);

/// The noise floor of a row, where one is on file.
std::optional<double> noise_floor(const std::optional<Calibration>& calibration,
                                  const RoleMetric& row);

nlohmann::json calibration_to_json(const Calibration& calibration);

/// Throws Error(io) that names the place; `where` names the file.
Calibration calibration_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace memduel
