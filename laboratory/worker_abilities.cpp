#include "laboratory/worker_abilities.h"

#include <fmt/format.h>

#include "base/error.h"

namespace memduel {
namespace {

void expect_device(const nlohmann::json& workload, const nlohmann::json& worker) {
  const std::string device = workload.value("device", "cpu");
  if (device == "cpu" || worker.value("cuda", false)) return;
  throw Error(ExitCode::cannot_measure,
              fmt::format("device \"{}\": {}", device,
                          worker.value("no_cuda", "memduel-worker sees no GPU")),
              "workload.device",
              "docs/gpu.md builds a worker for a GPU; without one: --set workload.device=cpu --set "
              "'measure.meters=[\"procfs\",\"allocator\",\"torch\"]'");
}

void expect_transport(const nlohmann::json& workload, const nlohmann::json& worker) {
  const nlohmann::json transport = workload.value("transport", nlohmann::json::object());
  if (transport.value("kind", "") != "grpc" || !worker.value("grpc", nlohmann::json()).is_null())
    return;
  throw Error(ExitCode::cannot_measure, "this memduel-worker was built without gRPC",
              "workload.transport.kind", "--set workload.transport.kind=unix");
}

void expect_compression(const nlohmann::json& arms, const nlohmann::json& worker) {
  if (worker.value("compression", true)) return;
  for (const nlohmann::json& arm : arms) {
    const std::string value = arm.at("optimizations").value("compression", "none");
    if (value != "none")
      throw Error(ExitCode::cannot_measure,
                  fmt::format("arm {} wants compression \"{}\", but this memduel-worker was built "
                              "without blosc and zfp",
                              arm.at("name").get<std::string>(), value),
                  "optimizations.compression", "build preset release");
  }
}

}  // namespace

void expect_abilities(const nlohmann::json& workload, const nlohmann::json& arms,
                      const nlohmann::json& worker) {
  expect_device(workload, worker);
  expect_transport(workload, worker);
  expect_compression(arms, worker);
}

}  // namespace memduel
