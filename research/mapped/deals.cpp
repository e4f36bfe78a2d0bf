// Deals comparisons from stored trials of one program and judges each as `memduel compare --gate
// default` would have, had it drawn these trials:
//   memduel-bench-deals DEALS SEED RUN
// The baseline's trials are dealt to both sides, then to one side with each candidate's on the
// other. Prints a JSON object for each of them, with how many deals were what.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "duel.h"
#include "model/job_facts.h"
#include "model/metric_catalogue.h"
#include "run/store.h"
#include "stats/trial_order.h"
#include "verdict/analyse.h"

namespace memduel::bench {
namespace {

constexpr std::size_t kArms = 2;

using Trials = std::vector<const TrialData*>;

/// Besides what the gates ask for. The last two decide whether a sum of resident sets is believed.
constexpr std::string_view kKept[] = {"peak_heap_bytes", "peak_mapped_bytes", "round_seconds",
                                      kRssCountedAgain, kPeakSharedOnce};

/// Leaves of the trials the whole job's values that are judged here: a deal takes a tenth of the
/// time then. Verdicts of gate rows do not depend on other rows.
void keep_what_is_judged(RunData& run) {
  const auto is_left_out = [&](const auto& entry) {
    const auto asks = [&](const RoleMetric& gate) { return gate.metric == entry.first; };
    return std::ranges::find(kKept, entry.first) == std::end(kKept) &&
           std::ranges::none_of(run.job.default_gates, asks);
  };
  for (TrialData& trial : run.trials) {
    std::erase_if(trial.roles, [](const RoleData& role) { return role.role != kTree; });
    for (RoleData& role : trial.roles) {
      erase_if(role.metrics, is_left_out);
      for (RoundData& round : role.rounds.edit()) erase_if(round.metrics, is_left_out);
    }
  }
}

/// The measured trials of an arm, in the order in which they ran.
Trials trials_of(const RunData& run, std::string_view arm) {
  Trials trials;
  for (const TrialData& trial : run.trials)
    if (trial.counts() && trial.arm == arm) trials.push_back(&trial);
  std::ranges::sort(trials, {}, &TrialData::begin_ns);
  return trials;
}

/// So many of them, each at most once, in the order in which they ran: what wanders over a session
/// wanders over a deal, too.
Trials drawn(Trials trials, std::size_t count, Random& random) {
  for (std::size_t i = 0; i < count; ++i)
    std::swap(trials[i], trials[i + random.below(trials.size() - i)]);
  trials.resize(count);
  std::ranges::sort(trials, {}, &TrialData::begin_ns);
  return trials;
}

/// A run of two arms as `compare` plans one, with trials that are dealt to its places.
class Deal {
 public:
  Deal(const RunData& stored, Random& random) : run_(stored) {
    const std::uint64_t seed = random.next() >> 12;
    run_.trials.clear();
    run_.artifact_differences.clear();
    run_.config.variants.resize(kArms);
    run_.config.gates = {kDefaultGates};
    run_.config.measure.seed = seed;
    run_.config.measure.repeats.reset();
    const std::vector<Segment> segments =
        segments_of(OrderPlan{seed, kArms, 0, planned_segments(std::nullopt, kArms - 1)});
    int superblock = 0;
    for (const Segment& segment : segments)
      for (const TrialOrder& order : segment.superblocks) add_places(superblock++, order);
  }

  /// Identical arms: one program's trials go to the places of both.
  RunData of_one(const Trials& plain, Random& random) const {
    const Trials dealt = drawn(plain, places_.size(), random);
    RunData run = run_;
    for (std::size_t i = 0; i < dealt.size(); ++i) place(run, *dealt[i], i);
    return run;
  }

  RunData of_two(const Trials& plain, const Trials& more, Random& random) const {
    const std::size_t each = places_.size() / kArms;
    const Trials dealt[] = {drawn(plain, each, random), drawn(more, each, random)};
    std::size_t next[] = {0, 0};
    RunData run = run_;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::size_t arm = places_[i].arm;
      place(run, *dealt[arm][next[arm]++], i);
    }
    return run;
  }

 private:
  struct Place {
    int block = 0;
    int position = 0;
    std::size_t arm = 0;
  };

  void add_places(int superblock, const TrialOrder& order) {
    int times[] = {0, 0};
    for (std::size_t position = 0; position < order.size(); ++position)
      places_.push_back({2 * superblock + 1 + times[order[position]]++, static_cast<int>(position),
                         order[position]});
  }

  void place(RunData& run, const TrialData& stored, std::size_t index) const {
    TrialData trial = stored;
    trial.id = static_cast<std::int64_t>(index) + 1;
    trial.block = places_[index].block;
    trial.position = places_[index].position;
    trial.arm = run_.config.variants[places_[index].arm].name;
    run.trials.push_back(std::move(trial));
  }

  RunData run_;  ///< without trials
  std::vector<Place> places_;
};

/// What the run would have found at the interim analysis at which it ends.
Results judge_adaptively(const RunData& run) {
  const AnalysisSettings settings = settings_from_config(run.config);
  Results results;
  for (const Look& look : planned_looks(run, settings).looks) {
    results = analyse(only_blocks(run, 1, look.blocks), settings);
    if (settled(results)) break;
  }
  return results;
}

/// What is counted of deals; the last are summed up.
constexpr const char* kCounters[] = {"fails", "inconclusive", "gate row called", "other row called",
                                     "blocks"};
constexpr std::size_t kBlocks = 4;

/// The number of each counter, then 1 for each of the job's default gates that fails.
std::vector<int> counted(const Results& results, const JobFacts& job) {
  std::vector<int> count(std::size(kCounters), 0);
  count[0] = static_cast<int>(results.overall.exit_code == 1);
  count[1] = static_cast<int>(results.overall.exit_code == 5);
  for (const Comparison& row : results.comparisons) {
    if (row.is_change()) count[row.gate ? 2 : 3] = 1;
    count[kBlocks] = std::max(count[kBlocks], row.n_baseline);
  }
  for (const RoleMetric& gate : job.default_gates)
    count.push_back(std::ranges::any_of(results.gates, [&](const GateResult& result) {
      return result.fails() && result.role == gate.role && result.metric == gate.metric;
    }));
  return count;
}

nlohmann::json as_json(const RunData& stored, const std::string& candidate,
                       const std::vector<Count>& counts) {
  nlohmann::json object = {{"candidate", candidate}, {"deals", counts.front().of}};
  for (std::size_t i = 0; i < std::size(kCounters); ++i) object[kCounters[i]] = counts[i].share();
  // Both are false where the arms are one program.
  object["may_be_5_percent"] = counts[0].at_most(0.05) && counts[2].at_most(0.05);
  for (std::size_t i = 0; i < stored.job.default_gates.size(); ++i)
    object["gates"][stored.job.default_gates[i].metric] = counts[std::size(kCounters) + i].share();
  return object;
}

int run(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: memduel-bench-deals DEALS SEED RUN\n");
    return 2;
  }
  RunData stored = read_run(argv[3], WithSeries::no);
  keep_what_is_judged(stored);
  const std::string baseline = stored.config.baseline;
  const Trials plain = trials_of(stored, baseline);
  for (const std::string& name : stored.config.variant_names()) {
    const Trials others = trials_of(stored, name);
    const auto counts =
        repeated(std::atoi(argv[1]), std::strtoul(argv[2], nullptr, 10),
                 std::size(kCounters) + stored.job.default_gates.size(),
                 [&](Random& random, std::vector<int>& sums) {
                   const Deal deal(stored, random);
                   const std::vector<int> found = counted(
                       judge_adaptively(name == baseline ? deal.of_one(plain, random)
                                                         : deal.of_two(plain, others, random)),
                       stored.job);
                   for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += found[i];
                 });
    fmt::print("{}\n", as_json(stored, name, counts).dump());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace memduel::bench

int main(int argc, char** argv) {
  try {
    return memduel::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "memduel-bench-deals: {}\n", error.what());
    return 2;
  }
}
