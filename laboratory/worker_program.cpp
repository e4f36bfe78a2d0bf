#include "laboratory/worker_program.h"

#include <fmt/format.h>

#include "base/capture.h"
#include "base/error.h"
#include "base/installed.h"

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
  CaptureOptions options;
  options.within_seconds = within_seconds;
  const Captured answer = capture(argv, options);
  if (answer.exit_status != 0) {
    throw Error(code_of(answer.exit_status),
                fmt::format("{} ended with status {}: {}", argv[1], answer.exit_status, answer.err),
                argv[0]);
  }
  nlohmann::json value = nlohmann::json::parse(answer.out, nullptr, false);
  if (!value.is_object()) {
    throw Error(ExitCode::io, fmt::format("{} printed no JSON object", argv[1]), argv[0]);
  }
  return value;
}

}  // namespace

std::optional<std::filesystem::path> find_worker() {
  auto worker = program_beside(kWorkerProgram);
  std::error_code unreadable;
  if (!std::filesystem::exists(worker, unreadable)) return {};
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

}  // namespace memduel
