// Is a role's memory bounded, and what does it reach? One role of one arm, judged across its runs.
//
// Every run gives a series over the same rounds, warm-up taken off. A trend inside one run is no
// evidence (within-run tests call 36 to 98% of healthy resident-set series a leak), so every
// number has its error from how the runs differ: the estimate is the mean of one slope a run, with
// Student's interval. Where the estimate is not linear in the runs, a run's slope is what it adds
// to the estimate of all (the jackknife; Efron and Tibshirani 1993, chapter 11). Shapes are told
// apart before a slope is believed:
//   resets     a series that falls back is judged by its lows and its highs, half against half
//   steps      single jumps in half of the runs or more are no slope; two and more in most are
//   warm-up    a curve that bends down is fitted as warm-up plus line: an exponential, a bent line
//              or a step, whichever leaves least; only the line counts as growth
// The verdict says what that means at the horizon, the last round of the job:
//   growing       a line that goes up is shown, it goes on in the last half, and adds what matters
//   flat          what it may add stays below what matters
//   leveling_off  likewise, after a warm-up that mattered
//   stepped       likewise, but for single jumps
//   inconclusive  none of these, with the rounds that would tell
// research/statistics/results.md has the simulated rates.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/samples.h"
#include "util/reflection.h"

namespace memduel {

/// Least-squares slope of y over x; at least two distinct x.
double line_slope(std::span<const double> x, std::span<const double> y);

/// The slopes of a variant's trials, one of each, and how sure their mean is.
/// The trial is the unit: rounds of one trial follow each other, trials do not. What rounds do
/// inside a trial is in its slope, so how trials differ holds both kinds of error.
struct TrialSlopes {
  std::vector<double> values;  ///< in the order of the trials
  /// Half of every interval at least: what the readings of one trial cannot tell apart is wrong
  /// alike in all trials of a program that does the same each time.
  double resolution = 0;

  [[nodiscard]] double mean() const;
  [[nodiscard]] double error() const;    ///< of the mean; 0 for one trial
  [[nodiscard]] double freedom() const;  ///< degrees of freedom of the error
  /// Whether there are trials enough to compare them with each other.
  [[nodiscard]] bool has_interval() const;
  /// Student's, with coverage 1 - alpha; unbounded below three trials.
  [[nodiscard]] Interval interval(double alpha) const;
};

/// The mean slope of the candidate's trials minus that of the baseline's. Trials that vary widen
/// the interval: the error is that of both means. p and interval never disagree.
struct SlopeDifference {
  double value = 0;
  double error = 0;
  double freedom = 0;     ///< Welch and Satterthwaite's; 0 below three trials of either variant
  double resolution = 0;  ///< half of every interval at least: what readings cannot tell apart

  [[nodiscard]] double p_value() const;
  [[nodiscard]] Interval interval(double alpha) const;
};

SlopeDifference slope_difference(const TrialSlopes& baseline, const TrialSlopes& candidate);

/// What readings to the nearest `reading_bytes` can do to a least-squares slope over equal steps of
/// x that reach over `length`: every reading of the first half wrong by half of it in one
/// direction, every one of the second half in the other.
double slope_resolution(double reading_bytes, double length);

enum class GrowthVerdict { flat, growing, stepped, leveling_off, inconclusive };
template <>
inline constexpr NameTable<GrowthVerdict, 5> kNameTable<GrowthVerdict> = {
    {{GrowthVerdict::flat, "flat"},
     {GrowthVerdict::growing, "growing"},
     {GrowthVerdict::stepped, "stepped"},
     {GrowthVerdict::leveling_off, "leveling_off"},
     {GrowthVerdict::inconclusive, "inconclusive"}}};

/// One run after warm-up: x in rounds, or in minutes of equal steps, y in bytes.
struct GrowthSeries {
  std::vector<double> x;
  std::vector<double> y;
};

/// What growth is judged for.
struct GrowthQuestion {
  double horizon = 0;  ///< last round of the job; at least the last one seen, at most ten times it
  double alpha = kAlpha;  ///< two-sided level of the interval
  double resolution = 1;  ///< bytes that the source of y cannot tell apart: a page, or one
  bool by_time = false;   ///< x is in minutes of the typical run, not in rounds
  /// Of every run, its steps in a typical step's time; empty: 1.
  std::vector<double> paces = {};  // NOLINT(readability-redundant-member-init): -Wextra
  bool killed = false;             ///< the runs were killed for memory: that it goes on is shown
};

struct GrowthEstimate {
  std::optional<double> slope;    ///< bytes per round that go on: the mean of `trials`
  Interval interval;              ///< of slope; unbounded below three runs
  TrialSlopes trials;             ///< one slope a run, in the order of the runs
  std::vector<std::size_t> runs;  ///< that have a slope: of a series that falls back, those that do
  std::optional<double>
      level;           ///< where a bounded series stays, or the last level of a growing one
  double horizon = 0;  ///< round up to which it was judged
  double matters = 0;  ///< slope that adds what matters by the horizon
  GrowthVerdict verdict = GrowthVerdict::inconclusive;
  bool of_files = false;  ///< only pages of mapped files grow, which the kernel takes back
  std::optional<int> rounds_needed;  ///< that would tell, where it cannot be told
  std::string reason;
};

constexpr std::size_t kGrowthRuns = 3;     ///< below, runs cannot be compared with each other
constexpr std::size_t kGrowthRounds = 40;  ///< after warm-up: fewer do not tell growth from a tooth
constexpr std::size_t kBoundedRounds = 10;  ///< after warm-up: fewer do not show a level either
constexpr double kFarthest = 10;            ///< times the observed rounds: nothing is said beyond

/// Whether the verdict says that memory stays near a level.
constexpr bool is_bounded(GrowthVerdict verdict) {
  return verdict != GrowthVerdict::growing && verdict != GrowthVerdict::inconclusive;
}

/// How many of `rounds` rounds growth leaves out.
size_t growth_warmup(size_t rounds, int warmup_rounds);

/// Rounds of a job, warm-up and all, from which growth can be called.
int rounds_to_judge_growth(int warmup_rounds);

/// Series with fewer than three points do not count, and have no slope.
GrowthEstimate judge_growth(std::span<const GrowthSeries> runs, const GrowthQuestion& question);

/// Whether a single run looks like one that goes on to grow. No verdict, which needs several runs;
/// without this nothing is projected from one.
bool keeps_rising(const GrowthSeries& run);

/// Where a series meets a limit, in rounds.
struct Meeting {
  double at = 0;
  double low = 0;
  double high = 0;
};

/// For shown growth alone, with an interval within a factor of three, and within ten times the
/// observed rounds.
std::optional<Meeting> meeting_with(double limit_bytes, const GrowthEstimate& estimate,
                                    double last_round);

}  // namespace memduel
