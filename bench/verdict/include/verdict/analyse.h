// One run in, its verdicts out. Pure: the same values give the same results. With it what is known
// before the run or beside it: the noise of an environment, from duels of a program against itself;
// what a run can show at best, since with too few blocks, or too many comparisons, no values at all
// decide anything; how many blocks and minutes a duel needs to find a change of a given size; and
// the growth section of the results, every arm and role, per round and per minute.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/job_facts.h"
#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "stats/growth.h"
#include "stats/hypothesis_tests.h"
#include "stats/sample_size.h"
#include "stats/samples.h"
#include "util/error.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"
#include "verdict/results.h"

namespace memduel {

struct AnalysisSettings;

struct CalibratedMetric {
  /// 95% of duels of the program against itself stay below this apparent change: a share for
  /// metrics on the ratio scale, else in the metric's unit.
  double noise_floor = 0;
  /// Smallest change found with 80% probability; in the same terms.
  std::optional<double> minimum_detectable;
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
  Interval false_positive_interval{0, 1};  ///< Clopper and Pearson 1934, 95%
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

struct AnalysisSettings {
  std::vector<Gate> gates;  ///< of the config or the command line
  /// Whether the job's default gates were named, too; without any gate they are judged as well.
  bool named_default_gates = false;
  LookPlan looks = fixed_looks(8);
  Design design = Design::paired;
  int warmup_rounds = 0;
  std::optional<Calibration> calibration;    ///< of this environment's fingerprint
  std::optional<double> memory_limit_bytes;  ///< to project growth to; absent: the environment's
  std::optional<double> horizon_rounds;  ///< of the user's job; absent: the rounds that were run
  bool default_gates = true;             ///< whether unnamed defaults decide the exit code
  bool strict_gates = false;             ///< a gate fails only when shown beyond its bound
  /// The gates were named before the run: one whose metric or role no trial gave is not measured,
  /// where it is else refused.
  bool gates_of_config = false;
  OnInconclusive on_inconclusive = OnInconclusive::beyond;
  bool still_running = false;  ///< more blocks are going to come
  unsigned long seed = 1;      ///< of the resampling behind minimum_detectable and blocks_needed
};

/// What a resolved config asks for: gates, measure.repeats (fixed design) or its absence (adaptive
/// looks), measure.warmup_rounds and measure.seed. Throws Error(usage).
AnalysisSettings settings_from_config(const Document& config);

/// Replaces the settings' gates by these. Throws Error(usage).
void name_gates(AnalysisSettings& settings, const std::vector<std::string>& gates);

/// Whether the job's default gates are judged, and whether they decide the exit code.
bool asks_for_default_gates(const AnalysisSettings& settings);
bool default_gates_decide(const AnalysisSettings& settings);

/// The looks a run may take: settings.looks without those that its number of gates
/// rules out. The driver stops at these, and analyse() spends the level by them.
CheckedLooks planned_looks(const RunData& run, const AnalysisSettings& settings);

/// The arms that gates judge, at least one: neither twins nor those that take another one apart.
int judged_candidates(const RunData& run);

/// The gate rows that are going to share the level, one for each candidate and gate; at least one.
int gates_that_share(const RunData& run, const AnalysisSettings& settings);

/// The fewest blocks after which every gate can have an outcome if all change, at most those of the
/// last look.
/// Counters that are the same in every trial need fewer than a test.
int fewest_deciding_blocks(const RunData& run, const AnalysisSettings& settings);

/// How the trials of a run are planned, and the level that its gates share: no value decides that.
struct PlannedTrials {
  std::optional<RunOrder> order;  ///< of a restricted design
  CheckedLooks looks;             ///< planned_looks()
  int gate_rows = 1;              ///< gates_that_share()
  /// The least number of trials of each variant with which every gate can show a change, if it is
  /// large enough; 1 where nothing is to be decided.
  int least = 1;
  /// What is to be said of a plan with fewer, before the run starts and beside its results.
  std::optional<Note> too_few = std::nullopt;
};

PlannedTrials planned_trials(const RunData& run, const AnalysisSettings& settings);

/// After the first trials: throws Error(usage) for a gate on a metric that is not of the table and
/// that no trial recorded, and for one that its direction rules out. A limit relative to the
/// baseline is checked from the baseline's first successful trial on, a ceiling from that of each
/// variant on.
void refuse_unmeasured_gates(const RunData& first_trials, const AnalysisSettings& settings);

/// Throws Error(usage) for a gate that names a role or metric the run does not know, unless it was
/// named before the run, and for a baseline that is no arm. Everything else that keeps it from an
/// answer is a limitation, a warning or an inconclusive row with its reason.
Results analyse(const RunData& run, const AnalysisSettings& settings);

/// Whether a run with adaptive looks may end: every gate that is not advisory has an outcome, and
/// the comparison behind it a verdict.
bool settled(const Results& results);

/// Whether a run may end after the blocks it has: they are a planned look, its results are settled,
/// and so is the peak RSS of a command if no gate is named. Asking after every block is safe;
/// between looks the answer is no.
bool may_end(const RunData& so_far, const AnalysisSettings& settings);

/// Whether a gate failed that is not advisory.
bool gate_failed(const Results& results);

/// The arms whose profiles show where memory changed: the baseline and every candidate of a failed
/// gate, or of a gate whose metric changed; times have no stacks of memory. Empty if there are
/// none. A run's only variant is always explained.
std::vector<std::string> arms_to_explain(const Results& results);

/// The same run with only the measure blocks first … last (warm-up and profile trials stay).
RunData only_blocks(RunData run, int first, int last);

/// Throws Error(usage) for a named gate that decides by growth per round where `config` plans fewer
/// rounds than tell growth from a warm-up. Says nothing where the config does not give the rounds.
void refuse_growth_in_few_rounds(const Document& config, const AnalysisSettings& settings);

/// The same by the rounds of the warm-up trials of `run`, all that it has.
void refuse_growth_in_few_rounds(const RunData& run, const AnalysisSettings& settings);

/// A row of the results with the estimate that it tells.
struct GrowthRow {
  Growth row;
  GrowthEstimate estimate;
};

/// Rows for the arms and roles that have end_rss_bytes in three rounds or more after warm-up: of
/// the live heap, which has almost no noise, where every round has it; of the resident set per
/// round; and per minute, of each trial at its own pace. Per minute alone for those that mark no
/// rounds and live for ten seconds or more. Judged at `alpha` for settings.horizon_rounds. The
/// limit to project to is settings.memory_limit_bytes, else environment.memory_limit_bytes.
/// Multiples of the model are given where a gauge `model_bytes` or workload.model_bytes tells its
/// size.
std::vector<GrowthRow> growth_rows(const RunData& run, const Observations& observations,
                                   const std::vector<std::string>& roles,
                                   const AnalysisSettings& settings, double alpha);

/// Null where that was not judged.
inline const GrowthRow* find_growth(const std::vector<GrowthRow>& growth, const std::string& arm,
                                    const std::string& role, const std::string& metric) {
  const auto at = std::ranges::find_if(growth, [&](const GrowthRow& one) {
    return one.row.arm == arm && one.row.role == role && one.row.metric == metric;
  });
  return at == growth.end() ? nullptr : &*at;
}

/// The smallest p that any values can reach in the order that was drawn for them.
struct ReachableP {
  double smallest_p = 1;  ///< of one comparison; of several candidates, the least favourable
  int tests = 1;          ///< comparisons that share the level: gates times candidates

  /// Whether a single comparison that changes is decided, after the correction.
  [[nodiscard]] bool can_decide(double alpha = kAlpha) const { return smallest_p * tests <= alpha; }
};

/// After so many of the blocks that are planned. Trials are not needed.
ReachableP reachable_p(const RunData& run, const AnalysisSettings& settings, int blocks);

/// The fewest blocks of a fixed design, at least five, in which the run's comparisons can decide
/// with the order that its seed draws for them; absent where 64 do not suffice.
std::optional<int> fewest_blocks_that_can_decide(const RunData& run,
                                                 const AnalysisSettings& settings);

/// A number of blocks with its 95% interval: that of a variance, by chi-square, if the noise is
/// normal. It is wide: with five probed blocks its ends differ by a factor of eight.
struct PlannedBlocks {
  int blocks = 0;
  int low = 0;
  std::optional<int> high;  ///< absent beyond kMostPlannedBlocks
};

constexpr int kMostPlannedBlocks = 1000;

struct PlannedRow {
  RoleMetric row;
  std::optional<PlannedBlocks> blocks;  ///< absent beyond the most, or when nothing can be said
  std::string reason;                   ///< why there is no number; empty otherwise
};

struct DuelPlan {
  double change = 0;                    ///< the share to detect
  int probed_blocks = 0;                ///< that the noise comes from
  std::vector<PlannedRow> rows;         ///< the gate rows
  std::optional<PlannedBlocks> blocks;  ///< for all rows that have a number
  std::optional<double> block_seconds;  ///< typical, all arms of a block together

  /// Whether the ends of the interval differ by more than a factor of four because few blocks were
  /// probed.
  [[nodiscard]] bool is_from_too_few() const;
};

/// Returns the fewest probed blocks with which the ends differ by a factor of four or less.
int blocks_to_plan_from();

/// From the noise of a run (an earlier one, or a short probe of two arms) with five blocks or more:
/// `change` is a share, 0.02 for 2%; found with 80% probability in every gate row. @param
/// comparisons that share the level, a gate of a candidate each; absent: the run's own gate rows.
DuelPlan plan_duel(const RunData& run, const AnalysisSettings& settings, double change,
                   std::optional<int> comparisons = std::nullopt);

/// From a calibration alone: the blocks by the square-root law, each block of `arms` trials.
DuelPlan plan_duel(const Calibration& calibration, const std::vector<Gate>& gates, double change,
                   int arms);

/// "12 trials each (95% CI 6 to 40), about 14 min 30 s, detect a change of 2% with 80%
/// probability", then a line for each row.
std::string describe_plan(const DuelPlan& plan);

}  // namespace memduel
