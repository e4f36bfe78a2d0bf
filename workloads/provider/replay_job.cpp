#include "replay_job.h"

#include <set>

#include "model/metric_catalogue.h"
#include "provider/worker_program.h"

namespace memduel {

using nlohmann::json;

std::string device_of_role(const json& workload, const std::string& role) {
  const json device = workload.value("device", json("cpu"));
  return device.is_object() ? device.value(role, "cpu") : device.get<std::string>();
}

std::vector<std::string> devices_of(const json& workload) {
  std::set<std::string> devices;
  for (const char* role : {"server", "client"}) devices.insert(device_of_role(workload, role));
  return {devices.begin(), devices.end()};
}

bool is_gpu(const std::string& device) {
  return device.starts_with("cuda");
}

int gpu_number(const std::string& device) {
  const std::size_t colon = device.find(':');
  return colon == std::string::npos ? 0 : std::stoi(device.substr(colon + 1));
}

namespace {

using nlohmann::json;

/// Of a training: what a client holds beside its model, on the device that it trains on.
HeldModel held_by_clients(const json& workload, const std::string& metric) {
  if (workload.at("kind") == "state-dict") return {"client_max", metric, 0, ""};
  const json& optimizer = workload.value("optimizer", json::object());
  if (optimizer.value("name", "adam") == "sgd") return {"client_max", metric, 1, "gradients"};
  return {"client_max", metric, 3, "gradients and Adam's two moments"};
}

JobFacts facts_of_rounds(const json& workload) {
  JobFacts job;
  job.groups = {{"client", workload.at("clients").get<int>()}};
  job.default_gates = {
      {"server", kPeakRss}, {"client_max", kPeakRss}, {"server", kRssGrowthPerRound}};
  const auto metric_of = [&](const char* role) {
    return is_gpu(device_of_role(workload, role)) ? kPeakGpuAllocated : kPeakRssAboveIdle;
  };
  job.held_models = {{"server", metric_of("server"), 0, ""},
                     held_by_clients(workload, metric_of("client"))};
  return job;
}

JobFacts facts_of_one(const std::string& role, bool grows) {
  JobFacts job;
  job.default_gates = {{role, kPeakRss}};
  if (grows) job.default_gates.push_back({role, kRssGrowthPerRound});
  return job;
}

}  // namespace

JobFacts replay_facts(const json& workload) {
  const std::string kind = workload.at("kind");
  if (kind == "simulation") return facts_of_one("simulator", true);
  if (kind == "eeg") return facts_of_one("trainer", true);
  // Its stages differ, so that growth over all rounds says nothing.
  if (kind == "graph") return facts_of_one("trainer", false);
  return facts_of_rounds(workload);
}

namespace {

using nlohmann::json;

constexpr const char* kWorkerConfig = "{trial_dir}/worker.json";
constexpr const char* kAddressFile = "{trial_dir}/server.address";
constexpr const char* kModelFile = "{trial_dir}/final_model.bin";
/// Made once, for all trials of a run.
constexpr const char* kGraphFile = "{trial_dir}/../../graphs.bin";

json argv_of(const std::string& worker, const std::string& role, const std::string& index) {
  return {worker, "--role", role, "--index", index, "--config", kWorkerConfig};
}

json process(const Replay& replay, const std::string& role, const std::string& index = "0") {
  // Set here too, because OpenMP and OpenBLAS start their threads while they are loaded.
  const std::string threads = replay.workload.at("threads").dump();
  json env = {{"OMP_NUM_THREADS", threads}, {"OPENBLAS_NUM_THREADS", threads}};
  // Without it cuBLAS shares its workspace between streams, and may add in another order each time.
  if (is_gpu(device_of_role(replay.workload, role))) env["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8";
  return {{"role", role}, {"argv", argv_of(replay.worker, role, index)}, {"env", std::move(env)}};
}

/// A server, unless the clients take its part, and clients.
json server_and_clients(const Replay& replay) {
  const bool swarm = replay.workload.value("topology", "star") == "swarm";
  json processes = json::array();
  if (!swarm) {
    processes.push_back(process(replay, "server"));
    processes.back()["ready"] = {{"file", kAddressFile}};
  }
  processes.push_back(process(replay, "client", "{index}"));
  processes.back()["count"] = replay.workload.at("clients");
  if (!swarm) processes.back()["after"] = {"server"};
  return processes;
}

json processes_of(const Replay& replay) {
  const std::string kind = replay.workload.at("kind");
  if (kind == "simulation") return {process(replay, "simulator")};
  if (kind == "graph" || kind == "eeg") return {process(replay, "trainer")};
  return server_and_clients(replay);
}

}  // namespace

int rounds_of_replay(const json& workload) {
  const std::string kind = workload.at("kind");
  const auto number = [&](const char* key) { return workload.at(key).get<int>(); };
  if (kind == "simulation")
    return number("rounds") * number("repeats") * static_cast<int>(workload.at("methods").size());
  if (kind == "graph")
    return number("autoencoder_epochs") + number("teacher_epochs") + number("student_epochs");
  return number(kind == "eeg" ? "trials" : "rounds");
}

json job_of_replay(const Replay& replay) {
  json job = {
      {"kind", "command"},
      {"cwd", "{trial_dir}"},
      {"processes", processes_of(replay)},
      {"rounds", rounds_of_replay(replay.workload)},
      {"deadline_seconds", replay.workload.at("deadline_seconds")},
      {"final_model",
       {{"path", kModelFile}, {"compare", {replay.worker, "compare-models", "{a}", "{b}"}}}},
      {"pss_between_rounds", false},
      {"memduel_statuses", true}};
  if (replay.workload.at("kind") == "graph")
    job["prepare"] = json::array({argv_of(replay.worker, "graphs", "0")});
  return job;
}

json arm_of_job(const Replay& replay, const json& arm) {
  json result = {
      {"name", arm.at("name")},
      {"switches", arm.at("switches")},
      {"templates",
       {{{"json", worker_document(replay, arm.at("switches"))}, {"to", kWorkerConfig}}}}};
  if (arm.contains("allocator")) result["allocator"] = arm.at("allocator");
  const auto own = arm.at("env").find(kWorkerVariable);
  if (own == arm.at("env").end()) return result;
  for (const json& process : processes_of(replay)) {
    json argv = process.at("argv");
    argv.front() = *own;
    result["argv"][process.at("role").get<std::string>()] = std::move(argv);
  }
  return result;
}

json worker_document(const Replay& replay, const json& optimizations) {
  json document = {
      {"workload", replay.workload},  {"switches", optimizations},  {"seed", "{seed}"},
      {"meters", replay.meters},      {"trial_dir", "{trial_dir}"}, {"data_dir", "{site:data_dir}"},
      {"address_file", kAddressFile}, {"model_file", kModelFile}};
  document["workload"]["deadline_seconds"] = "{deadline_seconds}";
  if (replay.workload.at("kind") == "graph") document["graph_file"] = kGraphFile;
  return document;
}

}  // namespace memduel
