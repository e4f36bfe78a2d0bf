// Several gates of several candidates, judged as a run is.
#include <fmt/format.h>

#include "duel.h"
#include "sections.h"
#include "stats/trial_order.h"
#include "verdict/analyse.h"

namespace memduel::bench {
namespace {

struct GatesCase {
  const char* name;
  int candidates = 1;
  int gates = 1;
  int moved = 0;  ///< gates of every candidate that are 15% lower
  int blocks = 6;
};

RunData make_run(const GatesCase& one, Random& random) {
  const std::uint64_t seed = random.next() >> 12;
  Random values(random.next());
  RunData run;
  run.config = document_of_run(
      {{"baseline", "v0"},
       {"variants", nlohmann::json::array()},
       {"gates", nlohmann::json::array()},
       {"measure", {{"order", "restricted"}, {"seed", seed}, {"repeats", one.blocks}}}});
  const auto arms = static_cast<std::size_t>(one.candidates) + 1;
  for (std::size_t arm = 0; arm < arms; ++arm)
    run.config.variants.emplace_back().name = fmt::format("v{}", arm);
  for (int gate = 0; gate < one.gates; ++gate)
    run.config.gates.push_back(fmt::format("role{}.peak_rss_bytes<=+1%", gate));
  for (const Segment& segment : segments_of(OrderPlan{seed, arms, 0, segments_of(one.blocks)})) {
    int superblock = segment.first;
    for (const TrialOrder& order : segment.superblocks) {
      std::vector<int> times(arms, 0);
      for (std::size_t place = 0; place < order.size(); ++place) {
        TrialData trial;
        trial.id = static_cast<std::int64_t>(run.trials.size()) + 1;
        trial.block = 2 * superblock + 1 + times[order[place]]++;
        trial.position = static_cast<int>(place);
        trial.arm = fmt::format("v{}", order[place]);
        const double shared = values.normal();
        for (int gate = 0; gate < one.gates; ++gate) {
          RoleData role;
          role.role = fmt::format("role{}", gate);
          const bool lower = order[place] > 0 && gate < one.moved;
          role.metrics["peak_rss_bytes"] =
              kBaseBytes * (1 + 0.02 * (shared + values.normal())) * (lower ? 0.85 : 1);
          trial.roles.push_back(std::move(role));
        }
        run.trials.push_back(std::move(trial));
      }
      ++superblock;
    }
  }
  return run;
}

}  // namespace

void many_gates(Report& report, const BenchOptions& options) {
  report.heading("Several gates and candidates");
  report.columns({"gates", "blocks", "any gate without a change called", "all that moved found"});
  std::uint64_t seed = options.seed + 1100;
  for (const GatesCase& one :
       {GatesCase{"3 gates, none moved", 1, 3, 0, 6}, GatesCase{"3 gates, 1 at -15%", 1, 3, 1, 6},
        GatesCase{"3 gates x 2 candidates, none moved", 2, 3, 0, 6},
        GatesCase{"3 gates x 2 candidates, 1 of each at -15%", 2, 3, 1, 6},
        GatesCase{"3 gates x 2 candidates, 2 of each at -15%", 2, 3, 2, 6},
        GatesCase{"3 gates x 2 candidates, all at -15%", 2, 3, 3, 6},
        GatesCase{"3 gates x 2 candidates, 1 of each at -15%", 2, 3, 1, 8},
        GatesCase{"3 gates x 2 candidates, none moved", 2, 3, 0, 8}}) {
    const auto counts =
        repeated(options.repetitions, ++seed, 2, [&](Random& random, std::vector<int>& count) {
          const RunData run = make_run(one, random);
          const Results results = analyse(run, settings_from_config(run.config));
          bool any_false = false;
          bool all_found = one.moved > 0;
          for (const Comparison& row : results.comparisons) {
            const bool moved = row.role < fmt::format("role{}", one.moved);
            any_false = any_false || (!moved && row.is_change());
            all_found = all_found && (!moved || row.verdict == Verdict::improved);
          }
          count[0] += static_cast<int>(any_false);
          count[1] += static_cast<int>(all_found);
        });
    report.row({one.name, std::to_string(one.blocks),
                report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                one.moved > 0 ? percent(counts[1].share()) : ""});
  }
}

}  // namespace memduel::bench
