#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>

#include "sections.h"
#include "stats/sample_size.h"
#include "stats/samples.h"
#include "stats/trial_order.h"
#include "verdict/analyse.h"

namespace memduel::bench {
namespace {

constexpr int kBlocks = 16;
constexpr int kMetrics = 40;
constexpr int kRounds = 100;

RunData large_run() {
  RunData run;
  run.config =
      document_of_run({{"name", "large"},
                       {"workload", {{"kind", "command"}}},
                       {"measure", {{"order", "restricted"}}},
                       {"baseline", "arm0"},
                       {"variants", {{{"name", "arm0"}}, {{"name", "arm1"}}, {{"name", "arm2"}}}}});
  Random random(1);
  const OrderPlan plan{1, 3, 0, planned_segments(std::nullopt, 2)};
  for (int block = 1; block <= kBlocks; ++block) {
    const int superblock = (block - 1) / 2;
    const Segment segment = segment_at(plan, superblock);
    const TrialOrder& order =
        segment.superblocks[static_cast<std::size_t>(superblock - segment.first)];
    for (std::size_t arm = 0; arm < 3; ++arm) {
      TrialData trial;
      int times = (block - 1) % 2;
      for (std::size_t place = 0; place < order.size(); ++place)
        if (order[place] == arm && times-- == 0) trial.position = static_cast<int>(place);
      trial.id = static_cast<std::int64_t>(run.trials.size()) + 1;
      trial.block = block;
      trial.arm = fmt::format("arm{}", arm);
      RoleData role;
      role.role = "all";
      for (int r = 1; r <= kRounds; ++r) {
        RoundData round;
        round.round = r;
        round.begin_ns = r * 1000000000LL;
        round.end_ns = round.begin_ns + 900000000;
        for (int m = 0; m < kMetrics - 1; ++m) {
          round.metrics[fmt::format("peak_rss_of_part_{}_bytes", m)] =
              5e8 * (1 + 0.01 * random.normal());
        }
        round.metrics["end_rss_bytes"] = 5e8 * (1 + 0.01 * random.normal());
        role.rounds.push_back(std::move(round));
      }
      trial.roles.push_back(std::move(role));
      run.trials.push_back(std::move(trial));
    }
  }
  return run;
}

double resident_high_water_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

void speed(Report& report) {
  report.heading("Analysis of 3 arms x 16 blocks x 40 metrics x 100 rounds");
  report.columns({"rows", "seconds", "peak resident set of this program"});
  const RunData run = large_run();
  const auto begin = std::chrono::steady_clock::now();
  const Results results = analyse(run, settings_from_config(run.config));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double peak = resident_high_water_mib();
  report.row({std::to_string(results.comparisons.size()),
              report.judged(fmt::format("{:.2f}", took.count()), took.count() <= 0.5),
              report.judged(fmt::format("{:.0f} MiB", peak), peak <= 100)});
}

}  // namespace memduel::bench
