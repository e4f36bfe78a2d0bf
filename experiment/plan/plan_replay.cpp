#include <fmt/format.h>

#include "experiment/plan/plan_workloads.h"
#include "experiment/plan/worker_document.h"

namespace memduel {
namespace {

constexpr const char* kWorkerConfig = "worker.json";
constexpr const char* kAddressFile = "server.address";
constexpr const char* kGraphFile = "graphs.bin";

/// The worker.json that every role of the trial reads, with `more` in it, and where the final model
/// will be.
PlannedTrial plan_worker_trial(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                               const std::filesystem::path& trial_dir,
                               const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json document = worker_document(experiment, arm, site.data_dir, trial_dir);
  document.update(more);
  PlannedTrial planned;
  planned.files[trial_dir / kWorkerConfig] = document.dump(2) + "\n";
  planned.model_file = document.at("model_file").get<std::string>();
  planned.plan.deadline_seconds = experiment.workload.at("deadline_seconds");
  return planned;
}

ProcessSpec worker_process(const std::string& role, int index, const PlanSite& site,
                           const std::filesystem::path& config, const Experiment& experiment,
                           const Arm& arm) {
  ProcessSpec process;
  process.role = index == 0 ? role : fmt::format("{}-{}", role, index);
  process.argv = {site.worker.string(),  "--role",   role,           "--index",
                  std::to_string(index), "--config", config.string()};
  // Set here too, because OpenMP and OpenBLAS start their threads while they are loaded.
  const std::string threads = std::to_string(experiment.workload.at("threads").get<int>());
  process.env = {{"OMP_NUM_THREADS", threads}, {"OPENBLAS_NUM_THREADS", threads}};
  // Without it cuBLAS shares its workspace between streams, and may add in another order each time.
  if (experiment.workload.value("device", "cpu") == "cuda")
    process.env["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8";
  for (const auto& [name, value] : arm.env) process.env[name] = value;
  return process;
}

}  // namespace

nlohmann::json worker_document(const Experiment& experiment, const Arm& arm,
                               const std::filesystem::path& data_dir,
                               const std::filesystem::path& trial_dir) {
  nlohmann::json document = {
      {"workload", experiment.workload},
      {"optimizations", arm.optimizations},
      {"seed", experiment.seed},
      {"meters", experiment.measure.meters},
      {"trial_dir", trial_dir.string()},
      {"data_dir", data_dir.string()},
      {"address_file", (trial_dir / kAddressFile).string()},
      {"model_file", (trial_dir / "final_model.bin").string()},
  };
  if (experiment.workload.at("kind") == "graph")
    document["graph_file"] = (trial_dir / kGraphFile).string();
  return document;
}

PlannedTrial plan_federated(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                            const std::filesystem::path& trial_dir) {
  const auto config = trial_dir / kWorkerConfig;
  PlannedTrial planned = plan_worker_trial(experiment, arm, site, trial_dir);
  planned.plan.rounds = experiment.workload.at("rounds").get<int>();

  const bool swarm = experiment.workload.value("topology", "star") == "swarm";
  if (!swarm) {
    ProcessSpec server = worker_process("server", 0, site, config, experiment, arm);
    server.ready = Ready{};
    server.ready->file = trial_dir / kAddressFile;
    planned.plan.processes.push_back(std::move(server));
  }
  const int clients = experiment.workload.at("clients");
  for (int index = 1; index <= clients; ++index) {
    ProcessSpec client = worker_process("client", index, site, config, experiment, arm);
    if (!swarm) client.after = {"server"};
    planned.plan.processes.push_back(std::move(client));
  }
  return planned;
}

PlannedTrial plan_simulation(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                             const std::filesystem::path& trial_dir) {
  PlannedTrial planned = plan_worker_trial(experiment, arm, site, trial_dir);
  const nlohmann::json& workload = experiment.workload;
  planned.plan.rounds = workload.at("rounds").get<int>() * workload.at("repeats").get<int>() *
                        static_cast<int>(workload.at("methods").size());
  planned.plan.processes.push_back(
      worker_process("simulator", 0, site, trial_dir / kWorkerConfig, experiment, arm));
  return planned;
}

PlannedTrial plan_graph(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                        const std::filesystem::path& trial_dir) {
  // Made once, for all trials.
  const std::filesystem::path graphs = site.trials_dir.parent_path() / kGraphFile;
  PlannedTrial planned =
      plan_worker_trial(experiment, arm, site, trial_dir, {{"graph_file", graphs.string()}});
  const nlohmann::json& workload = experiment.workload;
  int epochs = 0;
  for (const char* stage : {"autoencoder_epochs", "teacher_epochs", "student_epochs"})
    epochs += workload.at(stage).get<int>();
  planned.plan.rounds = epochs;
  const auto config = trial_dir / kWorkerConfig;
  planned.prepare.push_back(worker_process("graphs", 0, site, config, experiment, arm));
  planned.plan.processes.push_back(worker_process("trainer", 0, site, config, experiment, arm));
  return planned;
}

PlannedTrial plan_eeg(const Experiment& experiment, const Arm& arm, const PlanSite& site,
                      const std::filesystem::path& trial_dir) {
  PlannedTrial planned = plan_worker_trial(experiment, arm, site, trial_dir);
  planned.plan.rounds = experiment.workload.at("trials").get<int>();
  planned.plan.processes.push_back(
      worker_process("trainer", 0, site, trial_dir / kWorkerConfig, experiment, arm));
  return planned;
}

}  // namespace memduel
