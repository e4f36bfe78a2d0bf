#include "analysis/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/experiment_view.h"
#include "base/error.h"
#include "base/text.h"

namespace memduel {
namespace {

using nlohmann::json;

json workload_of(const RunData& run) {
  return run.config.is_object() ? run.config.value("workload", json()) : json();
}

std::string fingerprint_of(const RunData& run) {
  return run.environment.is_object() ? run.environment.value("fingerprint", std::string())
                                     : std::string();
}

void check_arm(const RunData& run, const std::string& arm, const char* side) {
  const std::vector<std::string> arms = view_experiment(run).arms;
  if (std::find(arms.begin(), arms.end(), arm) != arms.end()) return;
  const auto nearest = nearest_name(arm, arms);
  throw Error(ExitCode::usage, fmt::format("run {} has no arm '{}'", side, arm), "",
              nearest ? fmt::format("did you mean '{}'?", *nearest) : "");
}

void append_trials(RunData& merged, const RunData& run, const std::string& arm, const char* name) {
  for (const TrialData& trial : run.trials) {
    if (trial.arm != arm || trial.kind != TrialKind::measure) continue;
    merged.trials.push_back(trial);
    merged.trials.back().arm = name;
    // A harness fault in one run says nothing about the same block number of the other.
    if (trial.harness_fault || trial.status == TrialStatus::dropped) merged.trials.pop_back();
  }
}

RunData merge(const RunData& a, const std::string& arm_a, const RunData& b,
              const std::string& arm_b) {
  RunData merged;
  merged.config = {{"name", fmt::format("{} against {}", arm_b, arm_a)},
                   {"baseline", "A"},
                   {"arms", {{{"name", "A"}}, {{"name", "B"}}}}};
  if (!workload_of(a).is_null()) merged.config["workload"] = workload_of(a);
  merged.config_sha256 = a.config_sha256;
  merged.environment = a.environment;
  append_trials(merged, a, arm_a, "A");
  append_trials(merged, b, arm_b, "B");
  for (const RunData* run : {&a, &b}) {
    merged.limitations.insert(merged.limitations.end(), run->limitations.begin(),
                              run->limitations.end());
    merged.warnings.insert(merged.warnings.end(), run->warnings.begin(), run->warnings.end());
  }
  merged.warnings.push_back(
      {"not_interleaved",
       "A and B were measured one after the other: whatever else changed in between (temperature, "
       "caches, other load, an update) looks like an effect",
       "for a claim, run both as arms of one experiment: memduel compare --a CMD --b CMD"});
  return merged;
}

}  // namespace

Results compare_runs(const RunData& a, const std::string& arm_a, const RunData& b,
                     const std::string& arm_b, AnalysisSettings settings) {
  check_arm(a, arm_a, "A");
  check_arm(b, arm_b, "B");
  if (workload_of(a) != workload_of(b)) {
    throw Error(ExitCode::usage, "the two runs had different workloads", "/workload",
                "compare runs of the same experiment");
  }
  RunData merged = merge(a, arm_a, b, arm_b);
  settings.design = Design::unpaired;
  if (fingerprint_of(a) != fingerprint_of(b)) {
    settings.distrust = "the runs come from different machines or set-ups";
    merged.limitations.push_back(
        {"different_environments",
         fmt::format(
             "the environments' fingerprints differ ('{}' and '{}'), so no row gets a verdict",
             fingerprint_of(a), fingerprint_of(b)),
         "measure both on one machine"});
  }
  return analyse(merged, settings);
}

RunData run_from_results(const Results& results) {
  RunData run;
  json arms = json::array();
  for (const ArmSummary& arm : results.arms) {
    arms.push_back({{"name", arm.name}, {"optimizations", arm.optimizations}});
  }
  run.config = {{"name", results.name}, {"baseline", results.baseline}, {"arms", arms}};
  run.config_sha256 = results.config_sha256;
  run.environment = results.environment;
  run.trials = results.trials;
  return run;
}

}  // namespace memduel
