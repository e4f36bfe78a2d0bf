// One run in, its verdicts out. Pure: the same values give the same results.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/statistics/looks.h"
#include "analysis/statistics/shift_test.h"
#include "analysis/values/results.h"
#include "analysis/verdicts/calibration.h"
#include "analysis/verdicts/gate_grammar.h"
#include "base/error.h"
#include "base/gate_words.h"
#include "base/run_data.h"

namespace memduel {

/// Which inconclusive gates make the exit code ExitCode::undecided.
enum class OnInconclusive {
  beyond,  ///< those whose estimate is beyond the bound
  pass,    ///< none
  fail     ///< all
};

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
  unsigned long seed = 1;      ///< of the resampling behind smallest_detectable and blocks_needed
};

/// What a resolved config asks for: gates, measure.repeats (fixed design) or its absence (adaptive
/// looks), measure.warmup_rounds and measure.seed. Throws Error(usage).
AnalysisSettings settings_from_config(const nlohmann::json& config);

/// Replaces the settings' gates by these. Throws Error(usage).
void name_gates(AnalysisSettings& settings, const std::vector<std::string>& gates);

/// Whether the job's default gates are judged, and whether they decide the exit code.
bool asks_for_default_gates(const AnalysisSettings& settings);
bool default_gates_decide(const AnalysisSettings& settings);

/// The gates of a run: those that were named, and the defaults where they are asked for.
std::vector<Gate> gates_to_judge(const RunData& run, const AnalysisSettings& settings);

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

/// The least number of trials of each variant with which every gate can show a change, if it is
/// large enough; 1 where nothing is to be decided.
int least_deciding_trials(const RunData& run, const AnalysisSettings& settings);

/// What is to be said of a run whose plan has fewer trials than that, before it starts and beside
/// its results.
std::optional<Note> too_few_trials(const RunData& run, const AnalysisSettings& settings);

/// After a first trial of each arm: throws Error(usage) for a gate on a metric that is not of the
/// table and that no trial gave, and for one that its direction rules out.
void refuse_unmeasured_gates(const RunData& first_trials, const AnalysisSettings& settings);

/// Throws Error(usage) for a gate that names a role or metric the run does not know, unless it was
/// named before the run, and for a baseline that is no arm. Everything else that keeps it from an
/// answer is a limitation, a warning or an inconclusive row with its reason.
Results analyse(const RunData& run, const AnalysisSettings& settings);

/// Whether a run with adaptive looks may end: every gate that is not advisory has an outcome, and
/// the comparison behind it a verdict.
bool settled(const Results& results);

/// Whether a run may end after the blocks it has: they are a planned look, and its results are
/// settled. Asking after every block is safe; between looks the answer is no.
bool may_end(const RunData& so_far, const AnalysisSettings& settings);

/// Whether a gate failed that is not advisory.
bool gate_failed(const Results& results);

/// The arms whose profiles tell where memory changed: the baseline and every candidate of a failed
/// gate that is not advisory, or of a gate whose metric improved; times have no stacks of memory.
/// Empty where there are none.
std::vector<std::string> arms_to_explain(const Results& results);

/// The same run with only the measure blocks first … last (warm-up and profile trials stay).
RunData only_blocks(RunData run, int first, int last);

}  // namespace memduel
