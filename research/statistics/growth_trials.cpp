// Growth of trials that vary: a variant against one that leaks as much, to a hundred bytes a round,
// per round and per minute; each number beside what memduel printed before trials' slopes were the
// unit of both.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "duel.h"
#include "sections.h"
#include "stats/estimates.h"
#include "stats/growth.h"
#include "util/bytes.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"

namespace memduel::bench {
namespace {

constexpr double kLevel = 200 * kMiB;
constexpr double kLeak = kMiB;           ///< a round
constexpr double kRoundsPerMinute = 60;  ///< of the typical trial
constexpr double kSlowest = 0.1;         ///< of the typical pace
constexpr double kMinuteInNs = 60e9;
constexpr double kMore = 100;  ///< that the candidate leaks a round: less than pages tell apart
constexpr const char* kServer = "server";

/// What one trial has beside its leak, by round.
using Extra = std::function<double(int round, int rounds)>;

/// Of a trial: nothing, but that pages are counted whole.
Extra nothing() {
  return [](int, int) { return 0.0; };
}

struct TrialNoise {
  const char* name;
  std::function<Extra(Random&)> make;
  /// What the typical trial has beside its leak. Growth is the leak, or the leak and the line
  /// through this: both are right.
  std::function<double(int round, int rounds)> typical = nothing();
};

std::vector<TrialNoise> trial_noises() {
  return {
      {"whole pages only", [](Random&) { return nothing(); }},
      {"noise of 0.6 MiB",
       [](Random& random) -> Extra {
         return [&random](int, int) { return 0.6 * kMiB * random.normal(); };
       }},
      {"warm-up of 20 MiB, time constant a tenth of the rounds",
       [](Random& random) -> Extra {
         const double height = 20 * kMiB * (1 + 0.1 * random.normal());
         return [&random, height](int round, int rounds) {
           return height * (1 - std::exp(-10.0 * round / rounds)) + 0.1 * kMiB * random.normal();
         };
       },
       [](int round, int rounds) { return 20 * kMiB * (1 - std::exp(-10.0 * round / rounds)); }},
      {"an arena of 8 MiB in a third of the trials",
       [](Random& random) -> Extra {
         const bool has = random.uniform() < 1.0 / 3;
         const double at = random.uniform();
         return [&random, has, at](int round, int rounds) {
           return (has && round > at * rounds ? 8 * kMiB : 0) + 0.1 * kMiB * random.normal();
         };
       },
       [](int round, int rounds) { return 8 * kMiB / 3 * round / rounds; }},
      {"random walk of 0.5 MiB a round",
       [](Random& random) -> Extra {
         double level = 0;
         return
             [&random, level](int, int) mutable { return level += 0.5 * kMiB * random.normal(); };
       }},
  };
}

struct TrialCell {
  TrialNoise noise;
  double variation = 0;  ///< of the trials' slopes, and of their pace
  int trials = 0;
  int rounds = 0;
};

TrialData trial_of(const TrialCell& cell, const std::string& arm, int block, Random& random) {
  TrialData trial;
  trial.id = block;
  trial.block = block;
  trial.arm = arm;
  trial.kind = TrialKind::measure;
  trial.status = TrialStatus::ok;
  const auto varied = [&] { return std::max(kSlowest, 1 + cell.variation * random.normal()); };
  const double leak = (kLeak + (arm == "b" ? kMore : 0)) * varied();
  const double round_ns = kMinuteInNs / (kRoundsPerMinute * varied());
  const Extra extra = cell.noise.make(random);
  RoleData role;
  role.role = kServer;
  for (int round = 1; round <= cell.rounds; ++round) {
    const double bytes = kLevel + leak * round + extra(round, cell.rounds);
    role.rounds.push_back({round,
                           static_cast<std::int64_t>((round - 1) * round_ns),
                           static_cast<std::int64_t>(round * round_ns),
                           {{"end_rss_bytes", kPageBytes * std::floor(bytes / kPageBytes)}},
                           {}});
  }
  trial.roles.push_back(std::move(role));
  return trial;
}

/// One variant's rows as they are, and as they were: by the errors of the slopes per round alone.
struct VariantRows {
  GrowthRow now;
  GrowthEstimate before;
};

Interval interval_before(const TrialSlopes& slopes, double length) {
  TrialSlopes before = slopes;
  before.resolution = kPageBytes / length;
  return before.interval(kAlpha);
}

std::array<VariantRows, 2> rows_of(const RunData& run, const std::string& arm, int rounds) {
  const auto rows = growth_rows(run, observe(run, {arm}, 1), {kServer}, AnalysisSettings(), kAlpha);
  const GrowthRow& round = rows.at(0);
  const GrowthRow& minute = rows.at(1);
  const auto kept = static_cast<double>(
      rounds - static_cast<int>(growth_warmup(static_cast<std::size_t>(rounds), 1)) - 1);
  GrowthEstimate by_round = round.estimate;
  by_round.interval = interval_before(by_round.trials, kept);
  by_round.trials.resolution = 0;
  GrowthEstimate by_minute = by_round;
  std::vector<double> minutes;
  for (const TrialData& trial : run.trials)
    if (trial.arm == arm)
      minutes.push_back(static_cast<double>(trial.roles[0].rounds.back().end_ns) / kMinuteInNs /
                        rounds);
  const double typical = median(minutes);
  for (double& slope : by_minute.trials.values) slope /= typical;
  by_minute.slope = by_minute.trials.mean();
  by_minute.interval = {by_round.interval.low / typical, by_round.interval.high / typical};
  by_minute.matters /= typical;
  return {{{round, by_round}, {minute, by_minute}}};
}

DecidedRow decided(const char* metric, const GrowthEstimate& baseline,
                   const GrowthEstimate& candidate) {
  RowValues values;
  values.baseline = baseline.trials.values;
  values.candidate = candidate.trials.values;
  MeasuredRow row =
      measure_row({metric_info(metric)}, std::move(values), growth_difference(baseline, candidate));
  const RowLevel level{kAlpha, 1, row.p_value};
  return decide(std::move(row), level);
}

/// The least and the most that the candidate grows by per round.
Interval truth_of(const TrialCell& cell) {
  std::vector<double> x;
  std::vector<double> y;
  const auto first = static_cast<int>(growth_warmup(static_cast<std::size_t>(cell.rounds), 1)) + 1;
  for (int round = first; round <= cell.rounds; ++round) {
    x.push_back(round);
    y.push_back(cell.noise.typical(round, cell.rounds));
  }
  return {kLeak + kMore, kLeak + kMore + line_slope(x, y)};
}

/// A ceiling at the truth: it must neither fail, nor pass where it is a hair lower.
bool failed_before(const GrowthEstimate& estimate, double ceiling) {
  return estimate.verdict == GrowthVerdict::growing && *estimate.slope > ceiling;
}
bool passed_before(const GrowthEstimate& estimate, double ceiling) {
  return is_bounded(estimate.verdict) || estimate.interval.high <= ceiling;
}
bool fails_now(const GrowthRow& row, double ceiling) {
  return row.estimate.verdict == GrowthVerdict::growing && row.estimate.interval.low > ceiling;
}
bool passes_now(const GrowthRow& row, double ceiling) {
  return row.estimate.interval.high <= ceiling;
}

enum Counter : std::size_t { grows_more, fails, passes, own_covers, difference_covers, kCounters };

void add(std::vector<int>& count, std::size_t at, std::initializer_list<bool> seen) {
  for (const bool one : seen) count[at++] += static_cast<int>(one);
}

/// Per round before and now, then per minute.
void once(const TrialCell& cell, const Interval& truth, Random& random, std::vector<int>& count) {
  RunData run;
  for (int block = 1; block <= cell.trials; ++block)
    for (const char* arm : {"a", "b"}) run.trials.push_back(trial_of(cell, arm, block, random));
  const auto a = rows_of(run, "a", cell.rounds);
  const auto b = rows_of(run, "b", cell.rounds);
  for (const std::size_t unit : {0, 1}) {
    const char* metric = unit == 0 ? kRssGrowthPerRound : kRssGrowthPerMinute;
    const double pace = unit == 0 ? 1 : kRoundsPerMinute;
    const double least = pace * truth.low;
    const double most = pace * truth.high;
    const DecidedRow before = decided(metric, a[unit].before, b[unit].before);
    const DecidedRow now = decided(metric, a[unit].now.estimate, b[unit].now.estimate);
    const auto more = [](const DecidedRow& row) {
      return row.comparison.verdict == Verdict::regressed;
    };
    const auto covers = [&](const DecidedRow& row) {
      return row.measured.growth->difference.interval(kAlpha).contains(pace * kMore);
    };
    const auto holds = [&](const Interval& interval) {
      return interval.low <= most && interval.high >= least;
    };
    add(count, 2 * unit * kCounters,
        {more(before), failed_before(b[unit].before, most), passed_before(b[unit].before, least),
         holds(b[unit].before.interval), covers(before)});
    add(count, (2 * unit + 1) * kCounters,
        {more(now), fails_now(b[unit].now, most), passes_now(b[unit].now, least),
         holds(b[unit].now.estimate.interval), covers(now)});
  }
}

/// "before -> now"
std::string both(const Count& before, const std::string& now) {
  return percent(before.share()) + " -> " + now;
}

void cell_row(Report& report, const TrialCell& cell, const BenchOptions& options,
              std::uint64_t seed) {
  const Interval truth = truth_of(cell);
  const auto counts =
      repeated(options.repetitions, seed, 4 * kCounters,
               [&](Random& random, std::vector<int>& count) { once(cell, truth, random, count); });
  for (const std::size_t unit : {0, 1}) {
    const auto before = [&](Counter at) { return counts[2 * unit * kCounters + at]; };
    const auto now = [&](Counter at) { return counts[(2 * unit + 1) * kCounters + at]; };
    const auto rate = [&](Counter at) {
      return both(before(at), report.judged(percent(now(at).share()), now(at).at_most(0.05)));
    };
    const auto coverage = [&](Counter at) {
      const Count missed{now(at).of - now(at).hits, now(at).of};
      return both(before(at), report.judged(percent(now(at).share()), missed.at_most(0.065)));
    };
    report.row({cell.noise.name, fmt::format("{:.0f}%", 100 * cell.variation),
                std::to_string(cell.trials), std::to_string(cell.rounds),
                unit == 0 ? "round" : "minute", rate(grows_more), rate(fails), rate(passes),
                coverage(own_covers), coverage(difference_covers)});
  }
}

}  // namespace

void growth_trials(Report& report, const BenchOptions& options) {
  report.heading(
      "Growth of trials that vary: 1 MiB a round in both variants (100 bytes apart), before -> "
      "now");
  report.columns({"noise inside a trial", "variation", "trials", "rounds", "per", "grows more",
                  "ceiling fails", "ceiling passes", "own interval covers", "difference covers"});
  std::uint64_t seed = options.seed + 5000;
  for (const TrialNoise& noise : trial_noises())
    for (const double variation : {0.0, 0.05, 0.2})
      for (const int trials : {3, 6, 12})
        for (const int rounds : {12, 40, 60})
          cell_row(report, {noise, variation, trials, rounds}, options, ++seed);
}

}  // namespace memduel::bench
