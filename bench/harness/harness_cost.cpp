// What metering costs: interleaved pairs of trials of one config's baseline, with its meters and
// without any. Prints the 90 % interval of the ratio of their round times, and memduel's own CPU
// time as a share of the trials'. Fails when the interval leaves +-2 % or the share exceeds 1 %.
//   memduel-bench-harness CONFIG [PAIRS [METER…]]        (default 20 pairs of the config's own
//   meters)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "analysis/hodges_lehmann.h"
#include "analysis/sign_flip.h"
#include "base/error.h"
#include "base/file.h"
#include "experiment/config.h"
#include "experiment/datasets.h"
#include "experiment/plan.h"
#include "experiment/supervisor.h"
#include "experiment/worker_program.h"

namespace {

namespace fs = std::filesystem;
using namespace memduel;

struct Cost {
  double round_seconds = 0;  ///< mean over the rounds of all roles but `tree`
  double harness_share = 0;
};

Cost cost_of(const TrialData& trial) {
  if (trial.status != TrialStatus::ok)
    throw Error(ExitCode::cannot_measure, trial.failure, "trial");
  double sum = 0;
  int count = 0;
  for (const RoleData& role : trial.roles) {
    if (role.role == "tree") continue;
    for (const RoundData& round : role.rounds) {
      sum += static_cast<double>(round.end_ns - round.begin_ns) * 1e-9;
      ++count;
    }
  }
  return {sum / count,
          trial.harness_cpu_seconds / (static_cast<double>(trial.end_ns - trial.begin_ns) * 1e-9)};
}

class Bench {
 public:
  Bench(const std::string& config, const std::vector<std::string>& meters, fs::path directory)
      : metered_(load_experiment(config)), bare_(metered_), directory_(std::move(directory)) {
    bare_.measure.meters.clear();
    if (!meters.empty()) metered_.measure.meters = meters;
    supervision_.launcher = find_launcher();
    const std::optional<fs::path> worker = find_worker();
    if (!worker) throw Error(ExitCode::cannot_measure, "this build has no memduel-worker");
    site_ = {
        *worker,
        find_dataset(metered_.workload.at("dataset").at("name"), data_directories(std::nullopt)),
        directory_ / "trials", directory_ / "logs", current_environment()};
    fs::create_directories(site_.log_dir);
  }

  Cost run(bool meters) {
    const PlannedTrial planned =
        plan_trial(meters ? metered_ : bare_, {++trial_, 1, 0, 0, TrialKind::measure}, site_);
    fs::create_directories(planned.plan.trial_dir);
    for (const auto& [path, text] : planned.files) write_file_atomically(path, text);
    const Cost cost = cost_of(run_trial(planned.plan, supervision_).trial);
    fs::remove_all(planned.plan.trial_dir);
    return cost;
  }

 private:
  Experiment metered_;
  Experiment bare_;
  fs::path directory_;
  SupervisorOptions supervision_;
  PlanSite site_;
  std::int64_t trial_ = 0;
};

bool report(const std::vector<double>& bare, const std::vector<double>& metered,
            std::vector<double> shares) {
  std::vector<double> log_bare;
  std::vector<double> log_metered;
  for (const double seconds : bare) log_bare.push_back(std::log(seconds));
  for (const double seconds : metered) log_metered.push_back(std::log(seconds));
  const Interval interval = SignFlip(log_bare, log_metered).interval(0.10);
  const double low = std::exp(interval.low);
  const double high = std::exp(interval.high);
  const double largest = *std::max_element(shares.begin(), shares.end());
  const double typical = median(std::move(shares));
  fmt::print(
      "round time with meters / without: {:.4f}, 90 % interval {:.4f} to {:.4f} ({} pairs)\n",
      std::exp(hodges_lehmann_shift(log_bare, log_metered)), low, high, bare.size());
  fmt::print("memduel's CPU time / trial's time: median {:.2f} %, largest {:.2f} %\n",
             100 * typical, 100 * largest);
  return low > 0.98 && high < 1.02 && typical <= 0.01;
}

int bench(const std::string& config, int pairs, const std::vector<std::string>& meters) {
  std::string name = (fs::temp_directory_path() / "memduel-harness-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw Error(ExitCode::io, "cannot make a directory", name);
  Bench bench(config, meters, name);
  std::mt19937 order(1);
  std::vector<double> bare;
  std::vector<double> metered;
  std::vector<double> shares;
  bench.run(true);  // the first run fills caches
  for (int pair = 0; pair < pairs; ++pair) {
    const bool meters_first = order() % 2 == 0;
    for (const bool metered_now : {meters_first, !meters_first}) {
      const Cost cost = bench.run(metered_now);
      (metered_now ? metered : bare).push_back(cost.round_seconds);
      if (metered_now) shares.push_back(cost.harness_share);
    }
    fmt::print(stderr, "pair {} of {}: {:.1f} ms with meters, {:.1f} ms without\n", pair + 1, pairs,
               1e3 * metered.back(), 1e3 * bare.back());
  }
  fs::remove_all(name);
  return report(bare, metered, std::move(shares)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 20;
  if (argc < 2 || pairs < 8) {
    fmt::print(stderr, "usage: memduel-bench-harness CONFIG [PAIRS, 8 or more [METER...]]\n");
    return 2;
  }
  try {
    return bench(argv[1], pairs, {argv + std::min(argc, 3), argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "memduel-bench-harness: {}\n", error.what());
    return 3;
  }
}
