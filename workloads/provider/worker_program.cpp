#include "laboratory/worker_abilities.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "laboratory/replay_devices.h"

namespace memduel {
namespace {

void expect_device(const nlohmann::json& workload, const nlohmann::json& worker) {
  constexpr const char* kAdvice =
      "docs/gpu.md builds a worker for a GPU; without one: --set workload.device=cpu --set "
      "'measure.meters=[\"procfs\",\"allocator\",\"torch\"]'";
  for (const std::string& device : devices_of(workload)) {
    if (!is_gpu(device)) continue;
    if (!worker.value("cuda", false))
      throw Error(ExitCode::cannot_measure,
                  fmt::format("device \"{}\": {}", device, worker.value("no_cuda", kSeesNoGpu)),
                  "workload.device", kAdvice);
    const int gpus = worker.value("gpus", 1);
    if (gpu_number(device) >= gpus)
      throw Error(ExitCode::cannot_measure,
                  fmt::format("device \"{}\": memduel-worker sees {}, counted from 0", device,
                              format_count(gpus, "GPU")),
                  "workload.device", "CUDA_VISIBLE_DEVICES says which it may see");
  }
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
