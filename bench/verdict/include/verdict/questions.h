// Questions beside the verdict. Of finished results: how a verdict came about, which rows the first
// screen shows, what a role's memory consists of and when it was highest, which stacks make it
// grow, what a reader must not miss. Of samples: the timeline that a screen can show, and where a
// watched job leads. Of a program: the smallest memory limit under which it still runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/run_data.h"
#include "model/watch_snapshot.h"
#include "stats/samples.h"
#include "verdict/comparison.h"
#include "verdict/results.h"

namespace memduel {

/// All candidates' rows of ROLE.METRIC. Throws Error(usage) that names the nearest row when there
/// is none.
std::string explain(const Results& results, std::string_view role_metric);

/// ROLE.METRIC of the row that a reader asks about first: of those that gates ask about the worst,
/// by verdict, then by how much it is above its margin. Throws Error(usage) without any.
std::string worst_row(const Results& results);

/// The rows that gates ask about, those that failed first, then what became worse, then the best
/// candidate's; of one candidate those that changed by most bytes first. Behind them, whatever its
/// metric, the memory of each candidate that changed most and that no row before tells. Without
/// memory that changed, the counters that did; without gates, whatever did. Reads finished rows;
/// the causes are left empty.
std::vector<ShownRow> rows_to_show(const Results& results);

/// Candidate minus baseline, of the medians, in the metric's unit; absent where one is missing.
std::optional<double> change_of_medians(const Comparison& row);

/// Whether growth is worth a sentence of its own: it goes on, by no less than the margin of its row
/// and not by little against what grows most in this run.
bool is_notable_growth(const Results& results, const Growth& growth);

struct MemoryPart {
  std::string name;       ///< "live allocations at the peak"
  bool profiled = false;  ///< from profile trials, which are no part of the verdict
  double baseline_bytes = 0;
  double candidate_bytes = 0;

  [[nodiscard]] double difference() const { return candidate_bytes - baseline_bytes; }
};

/// Of what a role's memory differs by: what is live, what is file-backed or shared, and what no
/// part explains.
/// A role and candidate; the parts' differences and `rest_bytes` sum up to that of `total`.
struct MemoryBalance {
  std::string role;
  std::string candidate;
  std::string metric;  ///< of `total`: the verdict's, where that is resident memory
  MemoryPart total;
  std::vector<MemoryPart> parts;
  double rest_bytes = 0;
  std::string rest;                  ///< what the rest is, or why it cannot be told
  std::vector<MemoryPart> at_marks;  ///< readings beside the balance, each at its own highest
};

/// Of the roles that gates ask about, the best candidate's first, from medians. Live blocks are
/// those of profile trials at the peak; of roles without any those of the allocator at marks, which
/// miss what comes and goes between them. Roles of which no part is known are left out.
std::vector<MemoryBalance> memory_balances(const Results& results);

/// Freed memory that an arm's allocators keep: what a setting alone could give back.
struct HeldMemory {
  std::string role;
  double bytes = 0;  ///< held free at marks, at most
  int arenas = 0;
};

/// Of the role that holds most, the median of an arm's trials. Absent below 16 MiB and below a
/// tenth of the role's peak: nothing worth a trial of its own. @param arm a candidate, or the
/// baseline.
std::optional<HeldMemory> held_memory(const Results& results, const std::string& arm);

// How much each part of a training took at its highest: parameters, gradients, optimizer,
// activations, data.

/// One part, or all tensors together.
struct PartPeak {
  std::string name;
  std::vector<std::optional<double>> bytes;  ///< one per arm; absent where it was not measured

  /// Of an arm to the baseline, where both are known and the baseline's is not 0.
  [[nodiscard]] std::optional<double> ratio(std::size_t arm) const;
};

/// Of one role.
struct PartPeaks {
  std::string role;
  std::vector<std::string> arms;  ///< the baseline first
  std::vector<PartPeak> parts;
};

/// How many trials of each variant should decide an inconclusive gate on a change, at 80% power, if
/// the estimate stays where it is and the interval narrows with the root of the trials: its end has
/// to come within the limit or, of an estimate beyond the limit, exclude no change; of a limit on
/// an improvement, the limit. Absent where more than kMostUsefulBlocks would be needed, and where
/// the gate has no interval.
std::optional<int> trials_to_decide(const JobFacts& job, const GateResult& gate);

/// Of each role whose rounds have gauge parameter_bytes; arms of an ablation are left out. A
/// trial's own gauge is that of its last round, so the rounds are what is looked at.
std::vector<PartPeaks> part_peaks(const Results& results);

/// Median over the trials that count of each round's peak RSS, in bytes, in the order of the
/// rounds.
std::vector<double> round_peaks(const Results& results, const std::string& arm,
                                const std::string& role);

/// Whether the peaks of two arms lie in the same phase: what lives at peaks of different phases
/// differs for that reason alone.
/// A limitation `peak_moved` for every role of `totals` whose resident set is largest in one phase
/// with the baseline and in another with the candidate, by more than a fiftieth in both; the median
/// over the measured trials counts. Nothing about roles without phases.
std::vector<Note> moved_peaks(const RunData& run, const std::string& baseline,
                              const std::vector<DifferenceTotal>& totals);

/// Resident memory that changed beyond its margin while no gate asks for it: what a reader of
/// another tool would see first must not be missing without a word.
/// A warning for each candidate whose peak RSS regressed although no gate on memory failed: how
/// much of it are pages of mapped files, which the kernel can drop. `results` has its gates,
/// comparisons and differences.
std::vector<Note> ungated_rss(const Results& results);

/// A limitation `exit_status_accepted` for each variant of which a process of a trial that counts
/// exited with another status than 0, as --ignore-failure allows.
std::vector<Note> accepted_exit_statuses(const Results& results);

/// A limitation `heap_above_rss` if the median peak heap of a variant is above its median peak RSS
/// by a quarter and 4 MiB or more, both of all processes. It names all such variants.
std::vector<Note> untouched_heap(const Results& results);

/// Whether a row of growth per round reaches the margin, so that its stacks are worth naming.
bool asks_for_stacks(const Growth& row);

/// The stacks whose slope (Theil-Sen over the ends of rounds, after warm-up) is 1% or more of
/// `bytes_per_round`, the growth that they are to explain; steepest first, five at most.
std::vector<GrowingStack> growing_stacks(const LiveAtRoundEnds& live, double bytes_per_round,
                                         int warmup_rounds);

// Samples of a run, thinned to what a screen can show: per bucket the smallest and the largest
// value, so that no peak is lost.

/// Smallest and largest value per bucket of a common grid; both vectors have the same length.
struct Envelope {
  int first = 0;  ///< the bucket that low[0] and high[0] belong to
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
};

struct TrialTimeline {
  std::int64_t trial = 0;
  Envelope by_time;   ///< bucket i covers seconds [i, i + 1) * seconds_per_bucket of the trial
  Envelope by_round;  ///< bucket i covers positions first_position + [i, i + 1) *
                      ///< rounds_per_bucket; empty without rounds
};

/// A stretch both in seconds since the trial's start and in rounds: position 3.5 is half-way
/// between the beginnings of rounds 3 and 4.
struct Span {
  std::pair<double, double> seconds;  ///< begin and end
  std::pair<double, double> position;
};

struct PhaseSpan : Span {
  std::string phase;
};

struct RoundSpan : Span {
  int round = 0;
  std::vector<PhaseSpan> phases;
};

/// When an arm's rounds and phases typically begin and end: medians over its trials.
struct ArmRounds {
  std::string arm;
  std::vector<RoundSpan> rounds;
};

/// One series of one role over all measure trials.
struct RoleTimeline {
  std::string role;
  std::string metric;
  double seconds_per_bucket = 0;
  double rounds_per_bucket = 0;
  double first_position = 0;  ///< one round before the first, for the start-up where it was sampled
  int time_buckets = 0;
  int round_buckets = 0;
  std::string rounds_of;  ///< the role whose marks give the rounds; empty without rounds
  std::vector<TrialTimeline> trials;
  std::vector<ArmRounds> arms;
};

/// Timelines of every role and series that a measure trial has, roles in order of appearance.
/// @param bucket_budget upper bound of buckets over all envelopes together; at least 60 each.
std::vector<RoleTimeline> build_timelines(const RunData& run, int bucket_budget);

/// Slopes so far and where they lead; without a verdict, which needs several runs.
struct GrowthNow {
  std::optional<double> bytes_per_round;
  std::optional<double> bytes_per_minute;
  /// Whether the rounds look like growth that goes on (stats/growth.h), which takes forty after
  /// warm-up.
  bool keeps_rising = false;
  /// Until the limit is met at this slope. Absent where it does not keep rising, and beyond ten
  /// times what was seen.
  std::optional<double> rounds_left;
  std::optional<double> minutes_left;
};

GrowthNow growth_now(const WatchSnapshot& snapshot);

// The smallest memory limit under which a program still runs: searched by running it.

/// How a run under a limit ended.
struct LimitedRun {
  bool failed = false;
  double seconds = 0;
  std::string why = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

struct NeedOptions {
  double most_slowdown = 0.05;  ///< of the median run, as a share
  bool may_slow_down = true;    ///< false: this kind of limit lets a program run or fail
  double precision = 0.02;      ///< of the limit that is found, as a share
  int runs = 3;                 ///< at each limit that is tried
  int confirmations = 20;       ///< at the one that is found
};

struct Need {
  std::int64_t bytes = 0;            ///< the smallest limit that held
  std::int64_t too_little = 0;       ///< the largest that did not; 0: all that were tried held
  std::string why;                   ///< that did not: "killed for memory", "12% slower"
  int runs = 0;                      ///< at `bytes`, to confirm it
  int failed = 0;                    ///< of them
  Interval failure_rate{0, 1};       ///< Clopper and Pearson, 95%
  double slowdown = 0;               ///< Hodges and Lehmann's estimate, as a share
  Interval slowdown_interval{0, 0};  ///< 95%
};

/// Runs the program once: under a limit in bytes.
using RunUnderLimit = std::function<LimitedRun(std::int64_t bytes)>;

/// @param unlimited seconds of runs without a limit, at least three. @param start bytes that a run
/// without a limit was seen to take. Doubles it until a limit holds, halves it until one does not,
/// then divides what lies between. A limit that fails while it is confirmed is raised. Slower
/// counts where it is more than is allowed and more than chance, by ten runs (Mann and Whitney, 1
/// %). Throws Error(cannot_measure) where nothing holds up to 16 times `start`.
Need find_need(const std::vector<double>& unlimited, std::int64_t start, const NeedOptions& options,
               const RunUnderLimit& run);

}  // namespace memduel
