// The analysis of one run as plain values; results_json.h reads and writes it as
// "memduel.results/1".
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/run_data.h"

namespace memduel {

enum class Verdict { improved, regressed, unchanged, inconclusive };
enum class Tier { strong, plain };
enum class GrowthVerdict { flat, growing, stepped, settling, inconclusive };
enum class GateOutcome { passed, failed, undecided };

/// One metric of one role, a candidate against the baseline.
struct Comparison {
  std::string baseline;
  std::string candidate;
  std::string role;
  std::string metric;
  bool gate = false;  ///< corrected for multiplicity; all other rows are advisory
  std::optional<double> baseline_median;
  std::optional<double> candidate_median;
  std::optional<double> ratio;  ///< Hodges-Lehmann, candidate over baseline; absent for growth and
                                ///< where values are not positive
  std::optional<double>
      difference;  ///< Hodges-Lehmann, candidate minus baseline, in the metric's unit
  std::optional<double>
      ci_low;  ///< 95 % interval of `ratio`, or of `difference` where ratio is absent
  std::optional<double> ci_high;
  std::optional<double> p_value;
  std::optional<double> p_adjusted;
  int n_baseline = 0;
  int n_candidate = 0;
  Verdict verdict = Verdict::inconclusive;
  Tier tier = Tier::plain;
  std::string reason;
  double margin = 0;         ///< relative where ratio is given, else in the metric's unit
  double confidence = 0.95;  ///< of ci_low and ci_high; higher at an early look of an adaptive run
  std::optional<double> baseline_max;  ///< a location test misses "rarely much worse"
  std::optional<double> candidate_max;
  std::optional<int> blocks_needed;
  std::optional<double> smallest_detectable;
};

struct Projection {
  double limit_bytes = 0;
  std::optional<double> round;
  std::optional<double> ci_low;
  std::optional<double> ci_high;
};

struct Growth {
  std::string arm;
  std::string role;
  std::string metric;
  std::optional<double> slope;
  std::optional<double> ci_low;
  std::optional<double> ci_high;
  GrowthVerdict verdict = GrowthVerdict::inconclusive;
  std::string reason;
  std::optional<Projection> projection;
  std::optional<double> model_multiples_per_round;
  nlohmann::json stacks = nlohmann::json::array();
};

struct GateResult {
  std::string gate;
  std::string candidate;
  GateOutcome outcome = GateOutcome::undecided;
  bool advisory = false;
  bool candidate_failed = false;  ///< failed because trials of the candidate did
  bool not_measured = false;      ///< undecided because no usable value exists (exit code 3)
  std::string reason;
};

struct Equivalence {
  std::string baseline;
  std::string candidate;
  std::optional<bool> bit_identical;
  std::optional<double> max_abs_diff;
  std::map<std::string, std::pair<double, double>> metrics;  ///< medians, baseline then candidate
};

struct ArmSummary {
  std::string name;
  nlohmann::json optimizations = nlohmann::json::object();
  std::optional<std::string> model_sha256;  ///< absent when trials of the arm disagree or have none
  int trials_ok = 0;
  int trials_failed = 0;
};

/// Everything of results.json; `trials` are the run's, without their series.
struct Results {
  std::string name;
  std::string baseline;
  std::string config_sha256;
  nlohmann::json environment;
  std::vector<Note> limitations;
  std::vector<Note> warnings;
  std::vector<ArmSummary> arms;
  std::vector<TrialData> trials;
  std::vector<Comparison> comparisons;
  std::vector<Growth> growth;
  std::vector<GateResult> gates;
  std::vector<Equivalence> equivalence;
};

}  // namespace memduel
