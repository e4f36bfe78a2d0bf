#include "analysis/verdicts/merge_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace memduel {
namespace {

std::string baseline_of(const RunData& run) {
  if (run.config.contains("baseline")) return run.config.at("baseline");
  return run.trials.empty() ? "" : run.trials.front().arm;
}

std::string pick_arm(const RunData& run, const std::string& wanted, const char* side) {
  const std::string arm = wanted.empty() ? baseline_of(run) : wanted;
  std::set<std::string> known;
  for (const TrialData& trial : run.trials) known.insert(trial.arm);
  if (!known.contains(arm))
    throw Error(ExitCode::usage,
                fmt::format("no arm \"{}\", expected one of: {}", arm, fmt::join(known, ", ")),
                fmt::format("run {}", side));
  return arm;
}

void add_trials(RunData& merged, const RunData& run, const std::string& from,
                const std::string& to) {
  for (TrialData trial : run.trials) {
    // A fault of the harness in one run says nothing about the same block number of the other.
    const bool dropped = trial.harness_fault || trial.status == TrialStatus::dropped;
    if (trial.arm != from || dropped) continue;
    trial.id = static_cast<std::int64_t>(merged.trials.size()) + 1;
    trial.arm = to;
    merged.trials.push_back(std::move(trial));
  }
}

/// Absent in a run that comes from results.json.
const nlohmann::json* workload_of(const RunData& run) {
  const auto found = run.config.find("workload");
  return found != run.config.end() && found->is_object() ? &*found : nullptr;
}

void check_workloads(const RunData& a, const RunData& b) {
  const nlohmann::json* of_a = workload_of(a);
  const nlohmann::json* of_b = workload_of(b);
  if (of_a == nullptr || of_b == nullptr) return;
  const std::string kind = of_a->value("kind", std::string("command"));
  // Commands differ on purpose: that is the change under test.
  if (kind == of_b->value("kind", std::string("command")) && (kind == "command" || *of_a == *of_b))
    return;
  throw Error(ExitCode::usage, "the two runs have different workloads", "compare",
              "only runs of the same config can be compared; see config.json of each");
}

std::string fingerprint(const RunData& run) {
  return run.environment.is_object() ? run.environment.value("fingerprint", std::string())
                                     : std::string();
}

/// The roles of both; a group is as large as in the run that has more of it.
JobFacts joined(JobFacts job, const JobFacts& other) {
  for (const std::string& role : other.roles)
    if (std::ranges::find(job.roles, role) == job.roles.end()) job.roles.push_back(role);
  for (const RoleGroup& group : other.groups) {
    const auto same = std::ranges::find(job.groups, group.name, &RoleGroup::name);
    if (same == job.groups.end())
      job.groups.push_back(group);
    else
      same->count = std::max(same->count, group.count);
  }
  return job;
}

}  // namespace

RunData merge_runs(const RunData& a, const RunData& b, const std::string& arm) {
  check_workloads(a, b);
  RunData merged;
  merged.config = a.config;
  merged.config["name"] = "compare";
  merged.config["baseline"] = "a";
  merged.config["arms"] = {{{"name", "a"}}, {{"name", "b"}}};
  merged.config.erase("gates");
  merged.config.erase("ablation");
  merged.job = joined(a.job, b.job);
  merged.environment = a.environment;
  add_trials(merged, a, pick_arm(a, arm, "A"), "a");
  add_trials(merged, b, pick_arm(b, arm, "B"), "b");
  for (const RunData* run : {&a, &b}) {
    merged.limitations.insert(merged.limitations.end(), run->limitations.begin(),
                              run->limitations.end());
    merged.warnings.insert(merged.warnings.end(), run->warnings.begin(), run->warnings.end());
  }
  merged.warnings.push_back({"not_interleaved",
                             "the two runs were measured one after the other, not in turns",
                             "a drift of the machine between them looks like a difference; duel "
                             "the two with --a and --b to be sure"});
  const bool unchecked = workload_of(a) == nullptr || workload_of(b) == nullptr;
  if (unchecked && a.config_sha256 != b.config_sha256)
    merged.warnings.push_back({"workloads_not_checked",
                               "results.json does not hold the config, and the two runs had "
                               "different ones: whether both did the same work was not checked",
                               "compare the run directories"});
  if (fingerprint(a) != fingerprint(b))
    merged.warnings.push_back({kOtherEnvironment,
                               fmt::format("the runs come from different environments ({} and {}), "
                                           "so no row gets a verdict",
                                           fingerprint(a), fingerprint(b)),
                               "the difference may be the machine's; measure both on one"});
  return merged;
}

RunData run_from_results(const Results& results) {
  RunData run;
  run.config = {
      {"name", results.name}, {"baseline", results.baseline}, {"arms", nlohmann::json::array()}};
  for (const ArmSummary& arm : results.arms)
    run.config["arms"].push_back({{"name", arm.name}, {"optimizations", arm.optimizations}});
  run.config_sha256 = results.config_sha256;
  run.job = results.job;
  run.environment = results.environment;
  run.trials = results.trials;
  return run;
}

}  // namespace memduel
