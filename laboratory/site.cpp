#include <fmt/format.h>

#include "base/error.h"
#include "laboratory/datasets.h"
#include "laboratory/expand.h"
#include "laboratory/worker_abilities.h"
#include "laboratory/worker_program.h"
#include "profilers/meters/nvml.h"

namespace memduel {
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
              "build preset release, or duel programs of your own with a command workload");
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
  const json worker = describe_worker(worker_here(request.at("arms")), workload);
  expect_abilities(workload, request.at("arms"), worker);
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
