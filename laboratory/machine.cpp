#include "laboratory/machine.h"

#include "base/error.h"
#include "laboratory/datasets.h"
#include "laboratory/worker_abilities.h"
#include "laboratory/worker_program.h"

namespace memduel {
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
                     "docs/gpu.md says how to build for one"));
  const bool grpc = worker.value("grpc", json()).is_string();
  rows.push_back(row("gRPC", grpc,
                     grpc ? worker.at("grpc").get<std::string>() : "not in this build",
                     "apt-get install libgrpc++-dev, then build with MEMDUEL_GRPC=ON"));
}

}  // namespace

json describe_laboratory() {
  const auto worker = find_worker();
  json rows = json::array();
  rows.push_back(worker ? row(kWorkerProgram, true, worker->string(), "")
                        : row(kWorkerProgram, false, "not beside memduel",
                              "build preset release for the replays; commands and builds are "
                              "duelled without it"));
  const json described = worker ? describe_worker(*worker) : json::object();
  if (worker) add_worker(rows, described);
  for (const Dataset& dataset : known_datasets()) rows.push_back(row_of(dataset));
  return {{"rows", std::move(rows)},
          {"cuda", described.value("cuda", false)},
          {"no_cuda", described.value("no_cuda", kSeesNoGpu)}};
}

}  // namespace memduel
