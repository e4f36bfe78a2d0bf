// What the provider answers: catalogue, expand, site, and the rows of doctor.

#include "provider/expand.h"

#include <fmt/format.h>

#include "catalogue.h"
#include "meters/nvml.h"
#include "provider/datasets.h"
#include "provider/worker_program.h"
#include "replay_arms.h"
#include "replay_job.h"
#include "switch_rules.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

/// The one beside this program; where there is none, the first that an arm names for itself.
std::string worker_of(const json& arms) {
  if (find_worker()) return kWorkerProgram;
  for (const json& arm : arms)
    if (arm.at("env").contains(kWorkerVariable)) return arm.at("env").at(kWorkerVariable);
  return kWorkerProgram;
}

}  // namespace

json expand_replay(const json& request) {
  const std::string origin = request.value("origin", std::string("the request"));
  Replay replay{resolve_replay_workload(request.at("workload"), origin),
                request.value("meters", json{"procfs", "allocator", "torch"}),
                worker_of(request.at("variants"))};
  json arms = json::array();
  for (const json& arm : request.at("variants")) {
    const json resolved =
        resolve_replay_arm(arm, replay.workload, arm.value("place", std::string("variants")));
    json said = arm_of_job(replay, resolved);
    said["idle"] = idle_switches(resolved.at("switches"), replay.workload);
    arms.push_back(std::move(said));
  }
  const json facts = to_json(replay_facts(replay.workload));
  return {{"schema", "memduel.expanded/2"},
          {"workload", job_of_replay(replay)},
          {"variants", std::move(arms)},
          {"resolved", replay.workload},
          {"meters", replay.meters},
          {"groups", facts.at("groups")},
          {"default_gates", facts.at("default_gates")},
          {"held_models", facts.at("held_models")}};
}

json ask_fl(const Provider& /*provider*/, const std::string& word, const json& request) {
  if (word == "catalogue") return fl_catalogue();
  return word == "site" ? describe_site(request) : expand_replay(request);
}

namespace {

using nlohmann::json;

json row(const std::string& name, bool ok, const std::string& detail, const std::string& advice) {
  return {{"name", name}, {"ok", ok}, {"detail", detail}, {"advice", advice}};
}

json row_of(const Dataset& dataset) {
  const std::string name = "data: " + dataset.name;
  try {
    return row(name, true, find_dataset(dataset.name, data_directories(std::nullopt)).string(), "");
  } catch (const Error&) {
    return row(name, false, "not found", dataset.how_to_get);
  }
}

void add_worker(json& rows, const json& worker) {
  rows.push_back(row("LibTorch", true, worker.value("torch", ""), ""));
  const bool cuda = worker.value("cuda", false);
  rows.push_back(row("LibTorch on the GPU", cuda,
                     cuda ? "memduel-worker can use it" : worker.value("no_cuda", ""),
                     "see docs/gpu.md to build for a GPU"));
  const bool grpc = worker.value("grpc", json()).is_string();
  rows.push_back(row("gRPC", grpc,
                     grpc ? worker.at("grpc").get<std::string>() : "not in this build",
                     "apt-get install libgrpc++-dev, then build with MEMDUEL_GRPC=ON"));
}

}  // namespace

json describe_fl() {
  const auto worker = find_worker();
  json rows = json::array();
  rows.push_back(worker
                     ? row(kWorkerProgram, true, worker->string(), "")
                     : row(kWorkerProgram, false, "not next to memduel",
                           "build preset release for the built-in FL workloads; comparing commands "
                           "and builds does not need it"));
  const json described = worker ? describe_worker(*worker) : json::object();
  if (worker) add_worker(rows, described);
  for (const Dataset& dataset : known_datasets()) rows.push_back(row_of(dataset));
  return {{"rows", std::move(rows)},
          {"cuda", described.value("cuda", false)},
          {"no_cuda", described.value("no_cuda", kSeesNoGpu)}};
}

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// The worker that describes the machine for all.
fs::path worker_here(const json& arms) {
  if (const auto worker = find_worker()) return *worker;
  for (const json& arm : arms)
    if (arm.at("env").contains(kWorkerVariable))
      return arm.at("env").at(kWorkerVariable).get<std::string>();
  throw Error(ExitCode::cannot_measure, kNoWorker, "",
              "build preset release, or compare your own programs with a command workload");
}

/// As the driver names it; absent where the worker sees none, or the driver has no NVML.
std::optional<std::string> gpu_of(const json& worker) {
  if (!worker.value("cuda", false)) return std::nullopt;
  try {
    return Nvml().describe();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

json describe_site(const json& request) {
  const json& workload = request.at("workload");
  std::optional<fs::path> named;
  if (request.contains("data_dir")) named = request.at("data_dir").get<std::string>();
  const fs::path data_dir = find_data_dir(workload, data_directories(named));
  const json worker = describe_worker(worker_here(request.at("variants")), workload);
  expect_abilities(workload, request.at("variants"), worker);
  json environment = json::object();
  for (const char* key : {"torch", "model"})
    if (worker.contains(key)) environment[key] = worker.at(key);
  if (const std::string data = describe_data(workload, data_dir); !data.empty())
    environment["data_set"] = data;
  if (const auto gpu = gpu_of(worker)) environment["gpu"] = *gpu;
  return {{"schema", "memduel.site_has/1"},
          {"environment", std::move(environment)},
          {"values", {{"data_dir", data_dir.string()}}}};
}

}  // namespace memduel
