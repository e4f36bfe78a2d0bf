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
PlannedTrial plan_worker_trial(const ReplayTrial& trial,
                               const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json document =
      worker_document(trial.experiment, trial.arm, trial.site.data_dir, trial.trial_dir);
  document["workload"]["deadline_seconds"] = trial.deadline_seconds;
  document.update(more);
  PlannedTrial planned;
  planned.files[trial.trial_dir / kWorkerConfig] = document.dump(2) + "\n";
  planned.model_file = document.at("model_file").get<std::string>();
  return planned;
}

ProcessSpec worker_process(const std::string& role, int index, const ReplayTrial& trial) {
  const nlohmann::json& workload = trial.experiment.workload;
  ProcessSpec process;
  process.role = index == 0 ? role : fmt::format("{}-{}", role, index);
  process.argv = {trial.site.worker.string(),
                  "--role",
                  role,
                  "--index",
                  std::to_string(index),
                  "--config",
                  (trial.trial_dir / kWorkerConfig).string()};
  // Set here too, because OpenMP and OpenBLAS start their threads while they are loaded.
  const std::string threads = std::to_string(workload.at("threads").get<int>());
  process.env = {{"OMP_NUM_THREADS", threads}, {"OPENBLAS_NUM_THREADS", threads}};
  // Without it cuBLAS shares its workspace between streams, and may add in another order each time.
  if (workload.value("device", "cpu") == "cuda") process.env["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8";
  for (const auto& [name, value] : trial.arm.env) process.env[name] = value;
  return process;
}

/// federated and state-dict: a server, unless the clients take its part, and clients.
PlannedTrial plan_federated(const ReplayTrial& trial) {
  const nlohmann::json& workload = trial.experiment.workload;
  PlannedTrial planned = plan_worker_trial(trial);
  planned.plan.rounds = workload.at("rounds").get<int>();

  const bool swarm = workload.value("topology", "star") == "swarm";
  if (!swarm) {
    ProcessSpec server = worker_process("server", 0, trial);
    server.ready = Ready{};
    server.ready->file = trial.trial_dir / kAddressFile;
    planned.plan.processes.push_back(std::move(server));
  }
  const int clients = workload.at("clients");
  for (int index = 1; index <= clients; ++index) {
    ProcessSpec client = worker_process("client", index, trial);
    if (!swarm) client.after = {"server"};
    planned.plan.processes.push_back(std::move(client));
  }
  return planned;
}

/// One process that plays all clients.
PlannedTrial plan_simulation(const ReplayTrial& trial) {
  PlannedTrial planned = plan_worker_trial(trial);
  const nlohmann::json& workload = trial.experiment.workload;
  planned.plan.rounds = workload.at("rounds").get<int>() * workload.at("repeats").get<int>() *
                        static_cast<int>(workload.at("methods").size());
  planned.plan.processes.push_back(worker_process("simulator", 0, trial));
  return planned;
}

/// One process that trains. The run's file of graphs is made before each trial where it is not
/// there yet.
PlannedTrial plan_graph(const ReplayTrial& trial) {
  // Made once, for all trials.
  const std::filesystem::path graphs = trial.site.trials_dir.parent_path() / kGraphFile;
  PlannedTrial planned = plan_worker_trial(trial, {{"graph_file", graphs.string()}});
  const nlohmann::json& workload = trial.experiment.workload;
  int epochs = 0;
  for (const char* stage : {"autoencoder_epochs", "teacher_epochs", "student_epochs"})
    epochs += workload.at(stage).get<int>();
  planned.plan.rounds = epochs;
  planned.prepare.push_back(worker_process("graphs", 0, trial));
  planned.plan.processes.push_back(worker_process("trainer", 0, trial));
  return planned;
}

/// One process that fine-tunes several times, each a round.
PlannedTrial plan_eeg(const ReplayTrial& trial) {
  PlannedTrial planned = plan_worker_trial(trial);
  planned.plan.rounds = trial.experiment.workload.at("trials").get<int>();
  planned.plan.processes.push_back(worker_process("trainer", 0, trial));
  return planned;
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

PlannedTrial plan_replay(const ReplayTrial& trial) {
  const std::string kind = trial.experiment.workload.at("kind");
  if (kind == "simulation") return plan_simulation(trial);
  if (kind == "graph") return plan_graph(trial);
  if (kind == "eeg") return plan_eeg(trial);
  return plan_federated(trial);
}

}  // namespace memduel
