#include "provider/worker_program.h"

#include <fmt/format.h>

#include "replay_job.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr double kShortAnswerSeconds = 60;

/// What the worker's status says of a request that is faulty or not possible here.
ExitCode code_of(int exit_status) {
  for (const ExitCode code : {ExitCode::usage, ExitCode::cannot_measure})
    if (exit_status == static_cast<int>(code)) return code;
  return ExitCode::io;
}

nlohmann::json ask(const std::vector<std::string>& argv,
                   double within_seconds = kShortAnswerSeconds) {
  HelperOptions options;
  options.within_seconds = within_seconds;
  const HelperResult answer = capture(argv, options);
  if (answer.exit_status != 0) {
    throw Error(
        code_of(answer.exit_status),
        fmt::format("{} exited with status {}: {}", argv[1], answer.exit_status, answer.err),
        argv[0]);
  }
  nlohmann::json value = nlohmann::json::parse(answer.out, nullptr, false);
  if (!value.is_object()) {
    throw Error(ExitCode::io, fmt::format("{} did not print a JSON object", argv[1]), argv[0]);
  }
  return value;
}

}  // namespace

std::optional<std::filesystem::path> find_worker() {
  auto worker = program_beside(kWorkerProgram);
  if (!is_there(worker)) return {};
  return worker;
}

nlohmann::json describe_worker(const std::filesystem::path& worker,
                               const std::optional<nlohmann::json>& workload) {
  if (!workload) return ask({worker.string(), "describe"});
  return ask({worker.string(), "describe", "--workload", workload->dump()});
}

nlohmann::json probe_worker(const std::filesystem::path& worker, const nlohmann::json& request,
                            double within_seconds) {
  return ask({worker.string(), "probe", "--request", request.dump()}, within_seconds);
}

namespace {

void expect_device(const nlohmann::json& workload, const nlohmann::json& worker) {
  constexpr const char* kAdvice =
      "see docs/gpu.md to build a worker for a GPU; without one, use --set workload.device=cpu "
      "--set "
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
                  fmt::format("device \"{}\": memduel-worker found {}, counted from 0", device,
                              format_count(gpus, "GPU")),
                  "workload.device", "check CUDA_VISIBLE_DEVICES");
  }
}

void expect_transport(const nlohmann::json& workload, const nlohmann::json& worker) {
  const nlohmann::json transport = workload.value("transport", nlohmann::json::object());
  if (transport.value("kind", "") != "grpc" || !worker.value("grpc", nlohmann::json()).is_null())
    return;
  throw Error(ExitCode::cannot_measure, "this memduel-worker was built without gRPC",
              "workload.transport.kind", "use --set workload.transport.kind=unix");
}

void expect_compression(const nlohmann::json& arms, const nlohmann::json& worker) {
  if (worker.value("compression", true)) return;
  for (const nlohmann::json& arm : arms) {
    const std::string value = arm.at("switches").value("compression", "none");
    if (value != "none")
      throw Error(
          ExitCode::cannot_measure,
          fmt::format("variant {} uses compression \"{}\", but this memduel-worker was built "
                      "without blosc and zfp",
                      arm.at("name").get<std::string>(), value),
          "switches.compression", "build preset release");
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
