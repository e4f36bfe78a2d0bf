#include "experiment/worker_program.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/installed.h"
#include "experiment/capture.h"

namespace memduel {
namespace {

nlohmann::json ask(const std::vector<std::string>& argv) {
  const Captured answer = capture(argv);
  if (answer.exit_status != 0) {
    // Its own words about a faulty workload.
    const bool usage = answer.exit_status == static_cast<int>(ExitCode::usage);
    throw Error(usage ? ExitCode::usage : ExitCode::io,
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
  auto worker = program_beside("memduel-worker");
  std::error_code unreadable;
  if (!std::filesystem::exists(worker, unreadable)) return {};
  return worker;
}

nlohmann::json describe_worker(const std::filesystem::path& worker,
                               const std::optional<nlohmann::json>& workload) {
  if (!workload) return ask({worker.string(), "describe"});
  return ask({worker.string(), "describe", "--workload", workload->dump()});
}

double compare_models(const std::filesystem::path& worker, const std::filesystem::path& a,
                      const std::filesystem::path& b) {
  const auto answer = ask({worker.string(), "compare-models", a.string(), b.string()});
  const auto difference = answer.find("max_abs_diff");
  if (difference == answer.end() || !difference->is_number()) {
    throw Error(ExitCode::io, "compare-models gave no max_abs_diff", worker.string());
  }
  return difference->get<double>();
}

}  // namespace memduel
