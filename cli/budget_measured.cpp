#include "cli/budget_measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "cli/duel.h"
#include "experiment/datasets.h"
#include "experiment/worker_document.h"
#include "experiment/worker_program.h"
#include "training/budget_text.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

/// One client that trains the model; presets and rounds do not matter for one step of it.
Experiment experiment_of(const ProbedWorkload& asked, const Overrides& overrides) {
  if (asked.model.empty() || asked.dataset.empty())
    throw Error(ExitCode::usage, "found no model or no data set", "budget --measured",
                "add --model csfl-cnn --dataset mnist, or name a CONFIG");
  const nlohmann::json config = {{"name", "budget"},
                                 {"workload",
                                  {{"kind", "federated"},
                                   {"model", asked.model},
                                   {"device", asked.device},
                                   {"threads", asked.threads},
                                   {"dataset", {{"name", asked.dataset}}},
                                   {"clients", 1},
                                   {"optimizer", {{"name", asked.optimizer}}}}},
                                 {"arms",
                                  {{{"name", "original"}, {"preset", "appfl-original"}},
                                   {{"name", "optimized"}, {"preset", "appfl-optimized"}}}},
                                 {"baseline", "original"}};
  return parse_experiment(config.dump(), "budget --measured", fs::current_path(), overrides);
}

const Arm& arm_of(const Experiment& experiment, const std::string& name) {
  const std::string& wanted = name.empty() ? experiment.baseline : name;
  std::vector<std::string> names;
  for (const Arm& arm : experiment.arms) {
    if (arm.name == wanted) return arm;
    names.push_back(arm.name);
  }
  throw Error(ExitCode::usage, fmt::format("found no arm \"{}\"", wanted), "--arm",
              fmt::format("the config has {}", fmt::join(names, ", ")));
}

}  // namespace

int measured_budget(const ProbedWorkload& asked, const BudgetRequest& request) {
  if (!asked.config.empty() && !(asked.model + asked.dataset).empty())
    throw Error(ExitCode::usage, "found a CONFIG and --model or --dataset, expected one of the two",
                "budget", "--set workload.model=NAME changes a CONFIG's");
  Overrides overrides;
  overrides.set = asked.set;
  const Experiment experiment = asked.config.empty() ? experiment_of(asked, overrides)
                                                     : load_experiment(asked.config, overrides);
  const Arm& arm = arm_of(experiment, asked.arm);
  const std::optional<fs::path> worker = worker_for(experiment);
  if (!worker)
    throw Error(ExitCode::usage, "a command workload trains no model of ours", asked.config,
                "a budget is for workloads that memduel-worker trains");
  const fs::path data_dir = find_data_dir(experiment.workload, data_directories(asked.data_dir));
  const nlohmann::json answer = probe_worker(
      *worker,
      {{"config", worker_document(experiment, arm, data_dir, fs::path())}, {"budget", request}},
      experiment.workload.at("deadline_seconds"));
  const auto report = answer.get<BudgetReport>();
  print(describe_measured_budget(report));
  return report.is_exceeded() ? static_cast<int>(ExitCode::gate_failed) : 0;
}

}  // namespace memduel::cli
