#include "experiment/plan/worker_abilities.h"

#include <fmt/format.h>

#include "base/error.h"
#include "profilers/meters/registry.h"

namespace memduel {
namespace {

void expect_device(const Experiment& experiment, const nlohmann::json& worker) {
  const std::string device = experiment.workload.value("device", "cpu");
  if (device == "cpu" || worker.value("cuda", false)) return;
  throw Error(ExitCode::cannot_measure,
              fmt::format("device \"{}\": {}", device,
                          worker.value("no_cuda", "memduel-worker sees no GPU")),
              "workload.device",
              "docs/gpu.md builds a worker for a GPU; without one: --set workload.device=cpu --set "
              "'measure.meters=[\"procfs\",\"allocator\",\"torch\"]'");
}

void expect_transport(const Experiment& experiment, const nlohmann::json& worker) {
  const nlohmann::json transport = experiment.workload.value("transport", nlohmann::json::object());
  if (transport.value("kind", "") != "grpc" || !worker.value("grpc", nlohmann::json()).is_null())
    return;
  throw Error(ExitCode::cannot_measure, "this memduel-worker was built without gRPC",
              "workload.transport.kind", "--set workload.transport.kind=unix");
}

void expect_compression(const Experiment& experiment, const nlohmann::json& worker) {
  if (worker.value("compression", true)) return;
  for (const Arm& arm : experiment.arms) {
    const auto value = arm.optimizations.value("compression", "none");
    if (value != "none")
      throw Error(ExitCode::cannot_measure,
                  fmt::format("arm {} wants compression \"{}\", but this memduel-worker was built "
                              "without blosc and zfp",
                              arm.name, value),
                  "optimizations.compression", "build preset release");
  }
}

void expect_gpu_meters(const Experiment& experiment) {
  for (const std::string& name : experiment.measure.meters) {
    if (name != "nvml" && name != "cuda") continue;
    const Availability here = meter_named(name).works_here();
    if (!here.works)
      throw Error(ExitCode::cannot_measure, fmt::format("meter {}: {}", name, here.why),
                  "measure.meters", "leave it out where there is no GPU");
  }
}

}  // namespace

void expect_abilities(const Experiment& experiment, const nlohmann::json& worker) {
  expect_device(experiment, worker);
  expect_transport(experiment, worker);
  expect_compression(experiment, worker);
  expect_gpu_meters(experiment);
}

}  // namespace memduel
