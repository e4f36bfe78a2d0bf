#include "laboratory/cli/budget_measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/scratch_directory.h"
#include "cli/print.h"
#include "experiment/config/command_placeholders.h"
#include "experiment/config/config.h"
#include "laboratory/datasets.h"
#include "laboratory/expand.h"
#include "laboratory/replay_job.h"
#include "laboratory/worker_abilities.h"
#include "laboratory/worker_program.h"
#include "training/budget_text.h"
#include "training/graph_models.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

/// Of the three networks of a training on graphs that which is asked for, or as what the model is
/// trained.
std::string network_of(const ProbedWorkload& asked) {
  if (asked.network) return *asked.network;
  if (asked.model.starts_with("vgae")) return "autoencoder";
  return asked.teacher.empty() ? "teacher" : "student";
}

nlohmann::json graph_workload(const ProbedWorkload& asked) {
  const std::string network = network_of(asked);
  nlohmann::json workload = {{"kind", "graph"}};
  if (!asked.teacher.empty()) workload["teacher"] = asked.teacher;
  workload[network == "student" ? "model" : network] = asked.model;
  return workload;
}

bool is_graph_model(const std::string& model) {
  return std::ranges::any_of(graph_models(),
                             [&](const GraphModel& one) { return one.name == model; });
}

/// The workload that trains the model, and the presets of its system.
std::pair<nlohmann::json, std::string> workload_of(const ProbedWorkload& asked) {
  if (is_graph_model(asked.model)) return {graph_workload(asked), "kdgat"};
  if (asked.model.starts_with("cbramod"))
    return {{{"kind", "eeg"}, {"model", asked.model}}, "cbramod"};
  // One client; presets and rounds do not matter for one step of it.
  return {{{"kind", "federated"},
           {"model", asked.model},
           {"clients", 1},
           {"optimizer", {{"name", asked.optimizer}}}},
          "appfl"};
}

Experiment experiment_of(const ProbedWorkload& asked, const Overrides& overrides) {
  if (asked.model.empty() || asked.dataset.empty())
    throw Error(ExitCode::usage, "found no model or no data set", "budget --measured",
                "add --model csfl-cnn --dataset mnist, or name a CONFIG");
  if (!is_graph_model(asked.model) && !asked.teacher.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no teacher", asked.model), "--teacher",
                "gat-small has one on the data set can-generated");
  auto [workload, system] = workload_of(asked);
  if (workload["kind"] != "federated" && asked.optimizer != "adam")
    throw Error(
        ExitCode::usage,
        fmt::format("found {}, expected adam, which alone trains {}", asked.optimizer, asked.model),
        "--optimizer");
  workload["device"] = asked.device;
  workload["threads"] = asked.threads;
  workload["dataset"] = {{"name", asked.dataset}};
  const nlohmann::json config = {{"name", "budget"},
                                 {"workload", workload},
                                 {"arms",
                                  {{{"name", "original"}, {"preset", system + "-original"}},
                                   {{"name", "optimized"}, {"preset", system + "-optimized"}}}},
                                 {"baseline", "original"}};
  return parse_experiment(config.dump(), "budget --measured", fs::current_path(), overrides,
                          ask_laboratory);
}

/// What is asked, with the network that a model alone says.
BudgetRequest completed(BudgetRequest request, const ProbedWorkload& asked) {
  request.network = asked.network;
  if (is_graph_model(asked.model)) request.network = network_of(asked);
  return request;
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

/// The worker of this build, else the arm's own.
fs::path worker_of(const Arm& arm) {
  if (const auto worker = find_worker()) return *worker;
  if (const auto named = arm.env.find(kWorkerVariable); named != arm.env.end())
    return named->second;
  throw Error(ExitCode::cannot_measure, kNoWorker, "", "build preset release");
}

/// worker.json of the arm, as a trial in `directory` would have it.
nlohmann::json config_of(const Experiment& experiment, const Arm& arm, const fs::path& data_dir,
                         const fs::path& directory) {
  nlohmann::json document = worker_document(
      {experiment.expansion->workload, experiment.measure.meters, ""}, arm.optimizations);
  if (document.contains("graph_file")) document["graph_file"] = "{trial_dir}/graphs.bin";
  PlaceholderValues values;
  values.trial_dir = directory;
  values.seed = experiment.seed;
  values.deadline_seconds = experiment.deadline_seconds;
  values.site["data_dir"] = data_dir.string();
  return nlohmann::json::parse(TrialPlaceholders(values).fill_json(document.dump(), "worker.json"));
}

}  // namespace

int measured_budget(const ProbedWorkload& asked, const BudgetRequest& request) {
  if (!asked.config.empty() && !(asked.model + asked.teacher + asked.dataset).empty())
    throw Error(ExitCode::usage,
                "found a CONFIG and --model, --teacher or --dataset, expected one of the two",
                "budget", "--set workload.model=NAME changes a CONFIG's");
  Overrides overrides;
  overrides.set = asked.set;
  const Experiment experiment = asked.config.empty()
                                    ? experiment_of(asked, overrides)
                                    : load_experiment(asked.config, overrides, ask_laboratory);
  const Arm& arm = arm_of(experiment, asked.arm);
  if (!experiment.expansion || !provider_of(*experiment.expansion).is_default())
    throw Error(ExitCode::usage, "a command workload trains no model of ours", asked.config,
                "a budget is for workloads that memduel-worker trains");
  const nlohmann::json& workload = experiment.expansion->workload;
  const fs::path data_dir = find_data_dir(workload, data_directories(asked.data_dir));
  const ScratchDirectory scratch(fs::temp_directory_path(), "memduel-budget");
  const nlohmann::json answer =
      probe_worker(worker_of(arm),
                   {{"config", config_of(experiment, arm, data_dir, scratch.path())},
                    {"budget", completed(request, asked)}},
                   experiment.deadline_seconds);
  const auto report = answer.get<BudgetReport>();
  print_fitted(describe_measured_budget(report));
  return report.is_exceeded() || !report.found.fits ? static_cast<int>(ExitCode::gate_failed) : 0;
}

}  // namespace memduel::cli
