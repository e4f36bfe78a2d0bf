#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "util/command_line.h"
#include "util/error.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using nlohmann::json;

std::string baseline_of(const RunData& run) {
  if (!run.config.baseline.empty()) return run.config.baseline;
  return run.trials.empty() ? "" : run.trials.front().arm;
}

std::string pick_arm(const RunData& run, const std::string& wanted, const char* side) {
  const std::string arm = wanted.empty() ? baseline_of(run) : wanted;
  std::set<std::string> known;
  for (const TrialData& trial : run.trials) known.insert(trial.arm);
  if (!known.contains(arm))
    throw Error(ExitCode::usage,
                fmt::format("expected the name of a variant ({}), found \"{}\"",
                            fmt::join(known, ", "), arm),
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

void check_workloads(const RunData& a, const RunData& b) {
  const Workload& of_a = a.config.workload;
  const Workload& of_b = b.config.workload;
  if (!of_a.is_known() || !of_b.is_known()) return;
  // Commands differ on purpose: that is the change under test.
  if (of_a.own == of_b.own) return;
  throw Error(ExitCode::usage, "the two runs have different workloads", "compare",
              "compare runs of the same config; see config.json of each");
}

std::string fingerprint(const RunData& run) {
  return run.environment.is_object() ? run.environment.value("fingerprint", std::string())
                                     : std::string();
}

/// The arm under its new name, with the whole command lines of its own run: the merged run has the
/// other one's workload.
Variant arm_alone(const RunData& run, const std::string& arm, const std::string& name) {
  const Variant* known = run.config.variant(arm);
  const Variant own = known == nullptr ? Variant() : *known;
  Variant alone;
  alone.name = name;
  alone.preset = own.preset;
  alone.switches = own.switches;
  alone.env = own.env;
  alone.cwd = own.cwd;
  alone.allocator = own.allocator;
  if (!run.config.workload.own.is_null()) return alone;
  for (const JobProcess& process : run.config.workload.job.processes) {
    const auto instead = own.argv.find(process.role);
    const auto more = own.append.find(process.role);
    Argv& argv = alone.argv[process.role];
    argv = instead == own.argv.end() ? process.argv : instead->second;
    if (more != own.append.end()) argv.insert(argv.end(), more->second.begin(), more->second.end());
  }
  return alone;
}

/// One of the two runs and what becomes of it.
struct Side {
  const RunData* run;
  std::string arm;
  const MergedSide* merged;
};

/// What each arm was, and the command that compares the two again.
void describe_sides(json& environment, const std::vector<Side>& sides, const std::string& arm) {
  if (!environment.is_object()) environment = json::object();
  environment.erase("subjects");
  environment.erase("reproduce");  // it would measure one of them again
  std::vector<std::string> again = {"memduel", "compare"};
  for (const Side& side : sides) {
    const std::string& place = side.merged->place;
    if (place.empty()) return;
    const bool is_one_of_several = side.run->config.variants.size() > 1;
    environment["subjects"][side.merged->name] =
        is_one_of_several ? fmt::format("{} of {}", side.arm, place) : place;
    again.push_back(place);
  }
  if (!arm.empty()) again.insert(again.end(), {"--variant", arm});
  environment["reproduce"] = quoted_command_line(again);
}

bool has_rounds(const RunData& run, const std::string& arm) {
  return std::ranges::any_of(run.trials, [&](const TrialData& trial) {
    return trial.arm == arm && std::ranges::any_of(trial.roles, [](const RoleData& role) {
             return role.rounds.size() > 1;
           });
  });
}

/// Times of a round, what is held at its end, and with that growth.
bool is_measured_by_round(const std::string& metric) {
  return metric.starts_with("end_") || (metric.ends_with("_seconds") && metric != kCpuSeconds);
}

void leave_out_rounds(Metrics& metrics) {
  erase_if(metrics, [](const auto& metric) { return is_measured_by_round(metric.first); });
}

/// A whole job beside one round of it is no comparison.
void leave_out_rounds_of_one(RunData& merged, const std::string& a, const std::string& b) {
  if (has_rounds(merged, a) == has_rounds(merged, b)) return;
  for (TrialData& trial : merged.trials) {
    for (RoleData& role : trial.roles) {
      leave_out_rounds(role.metrics);
      for (RoundData& round : role.rounds.edit()) leave_out_rounds(round.metrics);
    }
  }
  const auto& [with, without] = has_rounds(merged, a) ? std::pair(a, b) : std::pair(b, a);
  merged.limitations.push_back(
      {"rounds_of_one_run",
       fmt::format(
           "{} has several rounds, but {} has only one, so times per round, memory at round ends "
           "and growth per round are not compared",
           with, without),
       "mark the rounds of both with the same log pattern"});
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

RunData merge_runs(const RunData& a, const RunData& b, const std::string& arm,
                   const MergedSide& of_a, const MergedSide& of_b) {
  check_workloads(a, b);
  const std::string arm_a = pick_arm(a, arm, "A");
  const std::string arm_b = pick_arm(b, arm, "B");
  RunData merged;
  merged.config = a.config;
  merged.config.name = "compare";
  merged.config.baseline = of_a.name;
  merged.config.variants = {arm_alone(a, arm_a, of_a.name), arm_alone(b, arm_b, of_b.name)};
  merged.config.gates.clear();
  merged.config.ablation.reset();
  // How many blocks each was to have says nothing about the two together.
  merged.config.measure.repeats.reset();
  merged.job = joined(a.job, b.job);
  merged.warnings = join_declarations(merged.job, b.job);
  merged.environment = a.environment;
  describe_sides(merged.environment, {{&a, arm_a, &of_a}, {&b, arm_b, &of_b}}, arm);
  add_trials(merged, a, arm_a, of_a.name);
  add_trials(merged, b, arm_b, of_b.name);
  leave_out_rounds_of_one(merged, of_a.name, of_b.name);
  for (const RunData* run : {&a, &b}) {
    merged.limitations.insert(merged.limitations.end(), run->limitations.begin(),
                              run->limitations.end());
    merged.warnings.insert(merged.warnings.end(), run->warnings.begin(), run->warnings.end());
  }
  merged.warnings.push_back({"not_interleaved",
                             "the two runs were measured one after the other, not interleaved, so "
                             "machine drift between them looks like a difference",
                             "compare the two programs with --a and --b"});
  const bool unchecked = !a.config.workload.is_known() || !b.config.workload.is_known();
  if (unchecked && a.config_sha256 != b.config_sha256)
    merged.warnings.push_back({"workloads_not_checked",
                               "results.json does not contain the config, and the two runs had "
                               "different ones, so the workloads were not checked for equality",
                               "compare the run directories"});
  if (fingerprint(a) != fingerprint(b))
    merged.warnings.push_back(
        {kOtherEnvironment,
         fmt::format("the runs come from different environments ({} and {}), "
                     "so every verdict is inconclusive",
                     fingerprint(a), fingerprint(b)),
         "measure both on the same machine; the difference may come from the machine"});
  return merged;
}

RunData run_from_results(const Results& results) {
  RunData run;
  run.config = document_of_run(nullptr);
  run.config.name = results.name;
  run.config.baseline = results.baseline;
  run.config.measure.warmup_rounds = results.warmup_rounds;
  for (const ArmSummary& arm : results.arms) {
    Variant& variant = run.config.variants.emplace_back();
    variant.name = arm.name;
    variant.switches = arm.optimizations;
  }
  run.config_sha256 = results.config_sha256;
  run.job = results.job;
  run.environment = results.environment;
  run.trials = results.trials;
  return run;
}

}  // namespace memduel
