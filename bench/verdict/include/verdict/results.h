// The results of one run as plain values, and which candidate is best. result_files.h reads and
// writes them as "memduel.results/2".
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/run_data.h"
#include "stats/growth.h"
#include "util/reflection.h"

namespace memduel {

/// `changed`: a change that is decided, of a metric of which nothing declares what is better.
enum class Verdict { improved, regressed, changed, unchanged, inconclusive };
template <>
inline constexpr NameTable<Verdict, 5> kNameTable<Verdict> = {
    {{Verdict::improved, "improved"},
     {Verdict::regressed, "regressed"},
     {Verdict::changed, "changed"},
     {Verdict::unchanged, "unchanged"},
     {Verdict::inconclusive, "inconclusive"}}};
enum class Tier { strong, plain };
template <>
inline constexpr NameTable<Tier, 2> kNameTable<Tier> = {
    {{Tier::strong, "strong"}, {Tier::plain, "plain"}}};
enum class GateOutcome { passed, failed, inconclusive };
template <>
inline constexpr NameTable<GateOutcome, 3> kNameTable<GateOutcome> = {
    {{GateOutcome::passed, "passed"},
     {GateOutcome::failed, "failed"},
     {GateOutcome::inconclusive, "inconclusive"}}};
/// How a gate failed: with the whole interval beyond the bound, or by a real change that is
/// estimated there.
enum class GateFailure { shown, estimated };
template <>
inline constexpr NameTable<GateFailure, 2> kNameTable<GateFailure> = {
    {{GateFailure::shown, "shown"}, {GateFailure::estimated, "estimated"}}};

/// The effect of the places of a row's trials, where it is taken out of the test.
struct RemovedPlace {
  double effect = 0;   ///< second over first of neighbours, or second minus first, as `estimate`
  double p_value = 1;  ///< of "no effect", at the estimate
  double estimate =
      0;  ///< of the change without it: beside ratio, or difference where it is absent
  bool everywhere = true;  ///< from no change to both ends of the interval; else at some changes
};

/// One metric of one role, a candidate against the baseline.
struct Comparison {
  std::string baseline;
  std::string candidate;
  std::string role;
  std::string metric;
  bool gate = false;           ///< corrected for multiplicity; all other rows are advisory
  bool advisory_gate = false;  ///< a gate asks how it changed that does not decide
  std::optional<double> baseline_median;
  std::optional<double> candidate_median;
  std::optional<double> ratio;  ///< Hodges-Lehmann, candidate over baseline; absent for growth and
                                ///< where values are not positive
  std::optional<double>
      difference;  ///< Hodges-Lehmann, candidate minus baseline, in the metric's unit
  std::optional<double>
      ci_low;  ///< the interval that decided, of `ratio`, or of `difference` where ratio is absent
  std::optional<double> ci_high;
  std::optional<double> p_value;
  std::optional<double> p_adjusted;
  int n_baseline = 0;
  int n_candidate = 0;
  Verdict verdict = Verdict::inconclusive;
  Tier tier = Tier::plain;
  std::string reason;
  bool exact = false;            ///< a counter with one value in all trials of each arm
  std::string test;              ///< that p_value is of; empty without one
  std::optional<double> p_mean;  ///< of equal means, where the design tests them beside the ranks
  std::string correction;        ///< that p_adjusted is by
  std::optional<double>
      reference_orders;  ///< that could have been drawn: p_value is a share of them
  std::optional<RemovedPlace> removed_place;
  bool apart = false;  ///< no value of one side lies between values of the other
  double margin = 0;   ///< relative where ratio is given, else in the metric's unit
  /// Of ci_low and ci_high: higher at an early look of an adaptive run, 0.9 of an unchanged row,
  /// whose two one-sided tests have 5% each.
  double confidence = 0.95;
  std::optional<double> baseline_max;  ///< a location test misses "rarely much worse"
  std::optional<double> candidate_max;
  std::optional<int> blocks_needed;
  std::optional<double> minimum_detectable;

  /// Whether it answers a question of the run's own.
  [[nodiscard]] bool is_asked() const { return gate || advisory_gate; }
  /// Whether any side has a median.
  [[nodiscard]] bool has_values() const { return baseline_median || candidate_median; }
  /// Whether the candidate has more of the metric, and not less; so too where it died.
  [[nodiscard]] bool has_more() const {
    return ratio ? *ratio > 1 : !difference || *difference > 0;
  }
  /// Whether a change is decided, for better, worse or neither.
  [[nodiscard]] bool is_change() const {
    return verdict == Verdict::improved || verdict == Verdict::regressed ||
           verdict == Verdict::changed;
  }
  /// Worse than any number: the candidate died where the baseline lived.
  [[nodiscard]] bool is_of_dead() const {
    return verdict == Verdict::regressed && !ratio && !difference;
  }
};

/// Where growth leads if nothing changes.
struct Projection {
  double limit_bytes = 0;
  std::optional<double> round;   ///< of growth per round, else absent
  std::optional<double> ci_low;  ///< of `round`; of `minute` where that is absent
  std::optional<double> ci_high;
  /// After the begin of the first round, of minutes as the trials had them.
  std::optional<double> minute = std::nullopt;
};

/// A stack of a profile trial that has more live from round to round.
struct GrowingStack {
  std::vector<std::string> stack;  ///< functions, outermost first
  std::string phase;               ///< in which most of it was born; empty: in none
  double bytes_per_round = 0;      ///< slope of what is live at the ends of rounds, after warm-up
  double last_bytes = 0;           ///< live at the end of the last round
  /// Of the line that grew most, as Difference::location.
  std::string location = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// What one trial grew by.
struct TrialSlope {
  int block = 0;
  double slope = 0;
};

struct Growth {
  std::string arm;
  std::string role;
  std::string metric;
  std::optional<double> slope;   ///< mean of `trial_slopes`
  std::optional<double> ci_low;  ///< slope -/+ the larger of t * s / sqrt(n) and `resolution`
  std::optional<double> ci_high;
  double confidence = 0.95;  ///< of ci_low and ci_high
  std::string method = {};   // NOLINT(readability-redundant-member-init): of the interval
  double resolution = 0;     ///< what the readings of one trial cannot tell apart, as a slope
  std::vector<TrialSlope> trial_slopes = {};  // NOLINT(readability-redundant-member-init)
  GrowthVerdict verdict = GrowthVerdict::inconclusive;
  std::string reason;
  bool of_files = false;  ///< only pages of mapped files grow, which the kernel takes back
  std::optional<Projection> projection;
  std::optional<double> model_multiples_per_round;
  std::optional<double> level;            ///< bytes in the last fifth of the rounds
  std::optional<int> rounds_needed;       ///< or minutes, that would tell what these could not
  std::vector<GrowingStack> stacks = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// What the limit of a gate bounds.
enum class GateQuantity {
  ratio,       ///< candidate over baseline
  difference,  ///< candidate minus baseline, in the metric's unit
  value        ///< the candidate's own, in the metric's unit
};
template <>
inline constexpr NameTable<GateQuantity, 3> kNameTable<GateQuantity> = {
    {{GateQuantity::ratio, "ratio"},
     {GateQuantity::difference, "difference"},
     {GateQuantity::value, "value"}}};

// Methods beside the tests of a row.
inline constexpr const char* kWestfallYoung = "Westfall-Young";
inline constexpr const char* kHolm = "Holm";
inline constexpr const char* kBenjaminiHochberg = "Benjamini-Hochberg";
inline constexpr const char* kIdentical = "identical values";
inline constexpr const char* kStudent = "Student's t of trial slopes";
inline constexpr const char* kWelch = "Welch's t of trial slopes";
inline constexpr const char* kLargestTrial = "largest trial";
inline constexpr const char* kDied = "failed trials";

/// The numbers that a gate's outcome rests on; all of them are of `quantity`.
struct GateEvidence {
  GateQuantity quantity = GateQuantity::ratio;
  std::string method;           ///< empty where too few trials decide nothing
  std::optional<double> limit;  ///< the bound
  std::optional<double> estimate;
  std::optional<double> ci_low;  ///< the interval that decided
  std::optional<double> ci_high;
  std::optional<double> confidence;  ///< of the interval
  std::optional<double> p_adjusted;
  int n_baseline = 0;
  int n_candidate = 0;
};

/// The result of a gate for one role of one variant: its outcome is decided here and only read
/// elsewhere.
struct GateResult {
  std::string gate;  ///< as written
  std::string role;  ///< that was judged; `*` where no role has the metric
  std::string metric;
  std::optional<std::string> baseline;  ///< absent where nothing is compared
  std::string candidate;
  GateOutcome outcome = GateOutcome::inconclusive;
  bool advisory = false;
  bool candidate_failed = false;       ///< failed because trials of the candidate did
  bool not_measured = false;           ///< undecided because no usable value exists
  bool beyond_bound = false;           ///< undecided although the estimate is beyond the bound
  std::optional<GateFailure> failure;  ///< of one that failed
  GateEvidence evidence = {};          // NOLINT(readability-redundant-member-init): -Wextra
  int exit_code = 0;                   ///< that this gate alone asks for
  std::string reason;

  [[nodiscard]] bool asks_about(const Comparison& row) const {
    return candidate == row.candidate && metric == row.metric && role == row.role;
  }
  /// Whether it fails the run.
  [[nodiscard]] bool fails() const { return !advisory && outcome == GateOutcome::failed; }
  /// What it says, for people: "passed", "failed", "inconclusive", "not measured".
  [[nodiscard]] std::string_view word() const {
    return not_measured ? "not measured" : to_name(outcome);
  }
  /// "gate failed", "advisory gate passed".
  [[nodiscard]] std::string phrase() const {
    return (advisory ? "advisory gate " : "gate ") + std::string(word());
  }
  /// The gate as written, of `*` with the role that was judged: the same from run to run.
  [[nodiscard]] std::string name() const {
    return gate.starts_with("*.") && role != "*" ? role + gate.substr(1) : gate;
  }
};

/// Whether its limit lies on the better side of no change.
bool asks_for_improvement(const JobFacts& job, const GateResult& gate);

enum class OverallOutcome {
  passed,        ///< every gate that decides
  failed,        ///< a gate, or a candidate's every trial
  inconclusive,  ///< a gate is undecided, none failed
  not_measured,  ///< a gate, or everything
  no_gates       ///< none decides
};
template <>
inline constexpr NameTable<OverallOutcome, 5> kNameTable<OverallOutcome> = {
    {{OverallOutcome::passed, "passed"},
     {OverallOutcome::failed, "failed"},
     {OverallOutcome::inconclusive, "inconclusive"},
     {OverallOutcome::not_measured, "not_measured"},
     {OverallOutcome::no_gates, "no_gates"}}};

/// The answer to the whole run.
struct Overall {
  OverallOutcome outcome = OverallOutcome::no_gates;
  int exit_code = 0;  ///< that the gates ask for
  /// The candidate that improved the first row that a gate asks about, of several the one that
  /// improved it most; absent where none did, or those that did failed a gate or a trial.
  std::optional<std::string> best;
  std::string nothing;  ///< why nothing could be compared; else empty
};

/// A line that two texts have differently.
struct LineDifference {
  int line = 0;  ///< from 1
  std::string baseline;
  std::string candidate;
};

/// Compares, line by line, a text that differs between the trials of one arm: only lines that are
/// equal in all trials of each arm are compared between the two arms.
struct Variation {
  int lines = 0;  ///< of every trial of both arms; 0: their number varies, or the texts are gone
  int varying_lines = 0;           ///< that the trials of an arm have differently
  std::vector<int> first_varying;  ///< some of them, from 1
  int differing_lines = 0;         ///< of the others, those that the two arms have differently
};

/// A file that every trial leaves, block by block.
struct FileEquivalence {
  std::string file;
  int blocks = 0;            ///< in which both arms left it
  int identical_blocks = 0;  ///< ... byte by byte the same
  /// What the config's command said, largest of all blocks; absent without a command.
  std::optional<double> max_difference;
  std::optional<double> max_within_baseline;       ///< ... between two trials of the baseline
  std::optional<LineDifference> first_difference;  ///< of what they print, where it differs
  /// Where the baseline's own trials differ, so that the whole cannot be compared.
  std::optional<Variation> variation = std::nullopt;
};

struct Equivalence {
  std::string baseline;
  std::string candidate;
  std::optional<bool> bit_identical;  ///< the final models, else all files in all blocks
  std::optional<double> max_abs_diff;
  std::map<std::string, std::pair<double, double>> metrics;  ///< medians, baseline then candidate
  std::vector<FileEquivalence> files = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// What attaching a tracer did to an arm: profile trials over measure trials.
struct Perturbation {
  std::string arm;
  std::string tracer;
  std::optional<double> wall_ratio;
  std::optional<double> peak_rss_ratio;  ///< of the tree
};

struct ArmSummary {
  std::string name;
  nlohmann::json optimizations = nlohmann::json::object();
  std::optional<std::string> model_sha256;  ///< absent when trials of the arm disagree or have none
  int trials_ok = 0;
  int trials_failed = 0;
  bool ablation = false;  ///< takes the candidate apart; no candidate of the gates itself
  std::optional<std::string> allocator;  ///< that the arm names; absent: whatever its processes use
  /// The files from which malloc was seen to come, in every role of its trials that are ok.
  std::vector<std::string> allocator_libraries = {};  // NOLINT(readability-redundant-member-init)
};

/// One arm of an ablation against the arm from which it differs in one switch.
struct AblationCell {
  std::optional<std::string> arm;  ///< absent where no arm was run; `reason` says why
  bool idle = false;               ///< no arm, because the switch changes nothing there
  std::string reference;           ///< the baseline, or the candidate for what was left out of it
  std::optional<double> reference_median;
  std::optional<double> median;
  std::optional<double> ratio;       ///< arm over reference; absent as in Comparison
  std::optional<double> difference;  ///< arm minus reference, in the metric's unit
  std::optional<double> ci_low;      ///< of `ratio`, or of `difference` where ratio is absent
  std::optional<double> ci_high;
  std::optional<double> p_adjusted;
  int n = 0;                                ///< blocks in which both lived
  Verdict verdict = Verdict::inconclusive;  ///< of the arm against its reference
  std::string reason;
};

/// What the two cells of a row say about its switch.
enum class SwitchEffect {
  saves,
  costs,
  mixed,        ///< saves on one side, costs on the other
  changes,      ///< changes a metric of which nothing declares what is better
  nothing,      ///< unchanged on every side where it can act, or it can act on none
  inconclusive  ///< no side is clear
};
template <>
inline constexpr NameTable<SwitchEffect, 6> kNameTable<SwitchEffect> = {
    {{SwitchEffect::saves, "saves"},
     {SwitchEffect::costs, "costs"},
     {SwitchEffect::mixed, "mixed"},
     {SwitchEffect::changes, "changes"},
     {SwitchEffect::nothing, "nothing"},
     {SwitchEffect::inconclusive, "inconclusive"}}};

/// What one switch does to one metric of one role, for whole trials or in one phase.
struct AblationRow {
  std::string optimization;
  std::string role;
  std::string metric;
  std::optional<std::string> phase;
  AblationCell added_alone;  ///< baseline with the switch, against the baseline
  AblationCell left_out;     ///< candidate without the switch, against the candidate
  SwitchEffect effect = SwitchEffect::inconclusive;
};

/// The effects of all switches put together, in the metric's unit; less memory is negative.
struct AblationSum {
  std::optional<double> sum;        ///< of the switches' effects
  std::optional<double> remainder;  ///< the whole effect minus `sum`: interaction
  std::optional<double> ci_low;     ///< of `remainder`
  std::optional<double> ci_high;
  int n = 0;                         ///< blocks in which every arm lived
  std::vector<std::string> missing;  ///< switches whose arm gave no number
};

struct AblationTotal {
  std::string role;
  std::string metric;
  std::optional<std::string> phase;
  AblationCell whole;       ///< candidate against baseline
  AblationSum added_alone;  ///< effects: added alone minus baseline
  AblationSum left_out;     ///< effects: candidate minus left out
};

/// What a role must hold at once, and how much more each arm holds.
struct LowerBound {
  std::string role;
  std::string metric;
  double bytes = 0;
  std::string formula;
  std::map<std::string, double> multiples;  ///< arm to its median over `bytes`
};

/// Where the profile trials of a candidate and the baseline differ: one stack of one role.
struct Difference {
  std::string candidate;
  std::string role;
  std::string kind;                ///< peak, live, retained, allocated, allocations or resident
  std::string heap = "malloc";     ///< or mapping; heap_and_mapped: both, kind peak alone
  std::vector<std::string> stack;  ///< functions, outermost first
  double bytes = 0;                ///< candidate minus baseline
  double share = 0;                ///< of the sum of all stacks' differences, each by its size
  std::optional<std::string> phase;
  double blocks = 0;  ///< candidate minus baseline
  double baseline_bytes = 0;
  double candidate_bytes = 0;
  std::optional<double> half_width_bytes;  ///< of `bytes`, 95%; absent where every block was seen
  /// "src/state.cpp:88": where the function that tells most is in the source, in the variant that
  /// has more; relative to the directory in which the program ran, or the file's name alone; empty:
  /// unknown.
  std::string location = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// All stacks of a role, kind and heap together.
struct DifferenceTotal {
  std::string candidate;
  std::string role;
  std::string kind;
  std::string heap = "malloc";
  double baseline_bytes = 0;
  double candidate_bytes = 0;
  double unmatched_share = 0;  ///< of both sides' bytes: stacks that only one side has
  int stacks = 0;              ///< that differ by more than chance; the largest are differences
  double guessed_share = 0;    ///< of both sides' bytes: stacks taken for one without being equal
};

/// What one owner has of a role's resident memory.
struct ResidentOwner {
  std::string owner;  ///< live, pinned, held, inherited, mapping, stack, file or unexplained
  std::string name;   ///< of a file; else empty, or a word for what it is
  double bytes = 0;
};

/// Whose the resident memory of a role was near the peak of its profile trial. Owners sum up to
/// `bytes`, which is what the kernel counted without the recorder's own pages. Of several processes
/// it is the sum of their snapshots, with each page that they share counted once.
struct ResidentMemory {
  std::string arm;
  std::string role;
  double bytes = 0;
  int processes = 1;  ///< that ran at once
  /// What the resident sets of the processes have beyond `bytes`: shared pages, counted in each.
  double counted_again_bytes = 0;
  double page_cache_bytes = 0;  ///< of `bytes`, pages of files that are no shared memory
  std::vector<ResidentOwner> owners;
  double recorder_bytes = 0;
  double untouched_bytes = 0;  ///< asked for and never touched: not resident
  double swapped_bytes = 0;    ///< not resident either
  int round = 0;               ///< 0: outside rounds
  std::optional<std::string> phase;
  double seconds = 0;  ///< that the process waited for it
};

/// Why the first screen shows a row.
enum class ShownFor {
  failed_gate,     ///< a gate on it failed that decides
  gate,            ///< a gate asks about it
  largest_change,  ///< no other memory of this candidate changed by more bytes
  change,          ///< another change of memory that is not small against the largest
  other            ///< a change of what is no memory held at one time
};
template <>
inline constexpr NameTable<ShownFor, 5> kNameTable<ShownFor> = {
    {{ShownFor::failed_gate, "failed_gate"},
     {ShownFor::gate, "gate"},
     {ShownFor::largest_change, "largest_change"},
     {ShownFor::change, "change"},
     {ShownFor::other, "other"}}};

/// A part of a row's change that a profile explains, of the same kind of memory as the row.
struct ShownCause {
  std::string name;  ///< "State::clone, called from aggregate (live allocations)"
  /// Of resident memory whose pages they are, as in ResidentOwner; else "heap" or "mapped".
  std::string memory;
  std::string function;  ///< with its file where the profile knows it; empty: of many stacks
  std::string caller;
  double size = 0;  ///< candidate minus baseline: bytes, of allocations their number
  /// Of the function, as Difference::location.
  std::string location = {};  // NOLINT(readability-redundant-member-init): -Wextra
  double share = 0;           ///< of the row's change, from 0 to 1
};

/// A row of the first screen.
struct ShownRow {
  std::string candidate;
  std::string role;
  std::string metric;
  ShownFor why = ShownFor::gate;
  std::optional<double> change = std::nullopt;  ///< of the medians, in the metric's unit
  std::vector<ShownCause> causes = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// What to do next: a sentence, and a command to copy or nothing.
struct NextStep {
  std::string sentence;
  std::string command;
};

/// What every report begins with, in this order. Chosen once: no report chooses again.
struct FirstScreen {
  std::vector<ShownRow> rows;
  std::optional<NextStep> next_step;
};

/// Everything of results.json; `trials` are the run's, without their series.
struct Results {
  std::string name;
  std::string baseline;
  std::string config_sha256;
  int warmup_rounds = 0;  ///< at the beginning of each trial; medians of durations leave them out
  JobFacts job;
  nlohmann::json environment;
  std::string order;  ///< how the order of the trials was drawn: names of Design
  std::vector<Note> limitations;
  std::vector<Note> warnings;
  std::vector<ArmSummary> arms;
  std::vector<TrialData> trials;
  std::vector<Comparison> comparisons;
  std::vector<Growth> growth;
  std::vector<GateResult> gates;
  Overall overall;
  std::vector<Equivalence> equivalence;
  std::vector<LowerBound> lower_bounds;
  std::vector<Perturbation> perturbation;
  std::vector<AblationRow> ablation;
  std::vector<AblationTotal> ablation_totals;
  std::vector<Difference> differences;
  std::vector<DifferenceTotal> difference_totals;
  std::vector<ResidentMemory> resident;
  FirstScreen first_screen;

  /// Null where this candidate has no such row.
  [[nodiscard]] const Comparison* row(std::string_view candidate, std::string_view role,
                                      std::string_view metric) const;
  /// Whether there is one variant, so that nothing is compared.
  [[nodiscard]] bool is_alone() const { return arms.size() == 1; }
};

/// A metric of a role in the trials of a variant that count, in their order.
std::vector<double> values_in_trials(const Results& results, const std::string& variant,
                                     const std::string& role, const std::string& metric);

inline const Comparison* Results::row(std::string_view candidate, std::string_view role,
                                      std::string_view metric) const {
  const auto found = std::ranges::find_if(comparisons, [&](const Comparison& one) {
    return one.candidate == candidate && one.role == role && one.metric == metric;
  });
  return found == comparisons.end() ? nullptr : &*found;
}

/// Candidates of which a gate failed.
std::set<std::string> failed_candidates(const Results& results);

/// The first row that a gate asks about; nullptr where none does.
const Comparison* first_gate_row(const Results& results);

/// Gate rows of one role and metric, the best effect first; failed candidates last.
std::vector<const Comparison*> ranked_rows(const Results& results, const Comparison& like);

/// Whether their intervals do not overlap.
bool told_apart(const Comparison& best, const Comparison& other);

/// Candidates, best first: by the effect on the first gate's row, then arms that no gate asks about
/// in their own order; those that failed a gate behind all others.
std::vector<std::string> ranked_candidates(const Results& results);

/// Sorts by the rank of a candidate's name.
class CandidateOrder {
 public:
  explicit CandidateOrder(const Results& results) : ranked_(ranked_candidates(results)) {}
  [[nodiscard]] std::size_t rank(const std::string& candidate) const;

 private:
  std::vector<std::string> ranked_;
};

}  // namespace memduel
