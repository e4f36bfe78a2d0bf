#include "google_benchmark_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"
#include "util/file.h"
#include "util/json.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool has_role(const TrialData& trial, const std::string& name) {
  return std::ranges::any_of(trial.roles, [&](const RoleData& role) { return role.role == name; });
}

void add_benchmarks_of(const std::string& role, const fs::path& file, TrialData& trial) {
  const nlohmann::json document = parse_foreign_json(read_text_file(file.string()));
  for (RoleData& benchmark : benchmarks_of_process(document, file.string())) {
    if (has_role(trial, benchmark.role))
      benchmark.role = fmt::format("{}: {}", role, benchmark.role);
    trial.roles.push_back(std::move(benchmark));
  }
}

}  // namespace

fs::path benchmark_output(const fs::path& trial_dir, const std::string& role) {
  return trial_dir / (role + ".google-benchmark.json");
}

void add_benchmarks(const TrialPlan& plan, TrialRun& run) {
  for (const ProcessSpec& process : plan.processes) {
    const fs::path file = benchmark_output(plan.trial_dir, process.role);
    if (!fs::exists(file)) continue;
    try {
      add_benchmarks_of(process.role, file, run.trial);
    } catch (const Error& error) {
      run.warnings.push_back(
          {"benchmarks_not_read",
           fmt::format("the benchmark output of {} cannot be read: {}", process.role, error.what()),
           ""});
    }
  }
}

}  // namespace memduel
