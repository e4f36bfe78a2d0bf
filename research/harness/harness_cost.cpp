// What metering costs. Trials of one config's baseline in many short rounds: in every other round
// the meters rest. Rounds beside each other see the same machine, which a pair of whole trials does
// not: on a shared machine those differ by 5% though nothing changed. Each trial is one pair, the
// mean log time of its metered and of its other rounds. Prints the 90% interval of the ratio, and
// memduel's own CPU time as a share of the time of trials of the config as it is. Fails when the
// interval leaves +-2% or the share exceeds 1%.
//   memduel-bench-harness CONFIG [PAIRS]        (default 20)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "config/experiment.h"
#include "model/run_directory.h"
#include "run/plan.h"
#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "trial/supervisor.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace {

namespace fs = std::filesystem;
using namespace memduel;

constexpr int kRounds = 150;
constexpr int kLocalSteps = 5;
constexpr int kWholeTrials = 5;

struct Pair {
  double metered = 0;  ///< mean of the logarithms of the rounds' seconds
  double resting = 0;
};

/// The first rounds still fill caches.
Pair rounds_of(const TrialData& trial) {
  constexpr int kSkipped = 4;
  double sums[2] = {0, 0};
  int counts[2] = {0, 0};
  for (const RoleData& role : trial.roles) {
    if (role.role != "server") continue;
    for (const RoundData& round : role.rounds) {
      if (round.round <= kSkipped) continue;
      sums[round.round % 2] += std::log(static_cast<double>(round.end_ns - round.begin_ns) * 1e-9);
      ++counts[round.round % 2];
    }
  }
  return {sums[1] / counts[1], sums[0] / counts[0]};
}

Overrides short_rounds() {
  Overrides overrides;
  overrides.set = {fmt::format("workload.rounds={}", kRounds),
                   fmt::format("workload.local_steps={}", kLocalSteps),
                   "workload.server_validation=false"};
  return overrides;
}

class Bench {
 public:
  Bench(const std::string& config, fs::path directory)
      : whole_(load_experiment(config)),
        short_rounds_(load_experiment(config, short_rounds())),
        directory_(std::move(directory)) {
    const nlohmann::json site =
        ask_site(whole_.expansion->provider, site_request(whole_.config), ask_program);
    site_ = {directory_ / kTrialsFolder, directory_ / kLogsFolder, current_environment(),
             site.at("values")};
    fs::create_directories(site_.log_dir);
  }

  Pair pair() { return rounds_of(run(short_rounds_, true)); }

  double share() {
    const TrialData trial = run(whole_, false);
    return trial.harness_cpu_seconds / trial.seconds();
  }

 private:
  TrialData run(const Experiment& experiment, bool rest_in_even_rounds) {
    const PlannedTrial planned =
        plan_trial(experiment, {++trial_, 1, 0, 0, TrialKind::measure}, site_);
    fs::create_directories(planned.plan.trial_dir);
    for (const auto& [path, text] : planned.files) write_file_atomically(path, text);
    TrialData trial =
        run_trial(planned.plan, {find_launcher(), nullptr, rest_in_even_rounds}).trial;
    fs::remove_all(planned.plan.trial_dir);
    if (trial.status != TrialStatus::ok)
      throw Error(ExitCode::cannot_measure, trial.failure, "trial");
    return trial;
  }

  Experiment whole_;
  Experiment short_rounds_;
  fs::path directory_;
  PlanSite site_;
  std::int64_t trial_ = 0;
};

bool report(const std::vector<double>& resting, const std::vector<double>& metered,
            std::vector<double> shares) {
  const Interval interval = SignFlip(resting, metered).interval(0.10);
  const double low = std::exp(interval.low);
  const double high = std::exp(interval.high);
  const double largest = *std::max_element(shares.begin(), shares.end());
  const double typical = median(std::move(shares));
  fmt::print("round time with meters / without: {:.4f}, 90% interval {:.4f} to {:.4f} ({} pairs)\n",
             std::exp(hodges_lehmann_shift(resting, metered)), low, high, resting.size());
  fmt::print("memduel's CPU time / trial's time: median {:.2f}%, largest {:.2f}%\n", 100 * typical,
             100 * largest);
  return low > 0.98 && high < 1.02 && typical <= 0.01;
}

int bench(const std::string& config, int pairs) {
  const ScratchDirectory scratch(fs::temp_directory_path(), "memduel-harness");
  Bench bench(config, scratch.path());
  std::vector<double> shares;
  for (int trial = 0; trial < kWholeTrials; ++trial) shares.push_back(bench.share());
  std::vector<double> resting;
  std::vector<double> metered;
  for (int count = 1; count <= pairs; ++count) {
    const Pair pair = bench.pair();
    resting.push_back(pair.resting);
    metered.push_back(pair.metered);
    fmt::print(stderr, "pair {} of {}: {:.2f} ms with meters, {:.2f} ms without\n", count, pairs,
               1e3 * std::exp(pair.metered), 1e3 * std::exp(pair.resting));
  }
  return report(resting, metered, std::move(shares)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 20;
  if (argc < 2 || argc > 3 || pairs < 8) {
    fmt::print(stderr, "usage: memduel-bench-harness CONFIG [PAIRS, 8 or more]\n");
    return 2;
  }
  try {
    return bench(argv[1], pairs);
  } catch (const std::exception& error) {
    fmt::print(stderr, "memduel-bench-harness: {}\n", error.what());
    return 3;
  }
}
