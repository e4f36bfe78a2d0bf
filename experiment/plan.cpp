#include "experiment/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "experiment/allocator_arm.h"
#include "experiment/plan_workloads.h"
#include "experiment/programs.h"
#include "profilers/profile/preload.h"

namespace memduel {
namespace {

constexpr char kPadName[] = "MEMDUEL_PAD";
constexpr char kTracer[] = "recorder";  ///< of profile trials

/// Bytes that one string takes on a new process's stack: itself, its NUL and its pointer.
std::size_t stack_bytes(std::size_t length) {
  return length + 1 + sizeof(char*);
}

std::size_t stack_bytes(const ProcessSpec& process,
                        const std::map<std::string, std::string>& inherited) {
  std::size_t bytes = 0;
  for (const std::string& argument : process.argv) bytes += stack_bytes(argument.size());
  auto environment = process.env;
  environment.insert(inherited.begin(), inherited.end());
  for (const auto& [name, value] : environment) {
    bytes += stack_bytes(name.size() + 1 + value.size());
  }
  return bytes;
}

/// Lets the recorder into the processes that it can enter.
void record_heap(std::vector<ProcessSpec>& processes, RecordMode mode, const PlanSite& site,
                 const std::filesystem::path& trial_dir) {
  for (ProcessSpec& process : processes) {
    auto environment = site.environment;
    for (const auto& [name, value] : process.env) environment[name] = value;
    const auto cwd = process.cwd.empty() ? trial_dir : process.cwd;
    const auto program = resolve_program(process.argv.front(), cwd, environment["PATH"]);
    process.heap_obstacle = obstacle_to_recording(program.value_or(process.argv.front()));
    if (!process.heap_obstacle.empty()) continue;
    process.heap_dir = trial_dir / "heap" / process.role;
    Preload preload;
    preload.mode = mode;
    for (const auto& [name, value] :
         recording_environment(preload, *process.heap_dir, environment["LD_PRELOAD"]))
      process.env[name] = value;
  }
}

PlannedTrial lower(const Experiment& experiment, const Arm& arm, const TrialSlot& slot,
                   const PlanSite& site, const std::filesystem::path& trial_dir) {
  // A profile trial is of no block; it does what the warm-up did.
  PlannedTrial planned = experiment.workload.at("kind") == "command"
                             ? plan_command(experiment, arm, std::max(slot.block, 0), trial_dir)
                             : plan_federated(experiment, arm, site, trial_dir);
  const auto preloads = site.environment.find("LD_PRELOAD");
  const std::string inherited = preloads == site.environment.end() ? "" : preloads->second;
  const bool keeps_allocator = slot.kind != TrialKind::profile || tracer_keeps_allocator(kTracer);
  if (arm.allocator && keeps_allocator) {
    for (ProcessSpec& process : planned.plan.processes)
      preload_allocator(process, *arm.allocator, inherited);
  }
  const auto& meters = experiment.measure.meters;
  const bool counts = std::find(meters.begin(), meters.end(), "heap") != meters.end();
  const bool profiles = slot.kind == TrialKind::profile;
  if (counts || profiles)
    record_heap(planned.plan.processes, profiles ? RecordMode::sampled : RecordMode::count, site,
                trial_dir);
  if (arm.allocator && keeps_allocator) {
    for (ProcessSpec& process : planned.plan.processes)
      require_allocator(process, *arm.allocator, inherited, trial_dir);
  }
  return planned;
}

/// Pads every process to the longest that any arm gives its role.
void make_lengths_equal(TrialPlan& plan, const Experiment& experiment, const TrialSlot& slot,
                        const PlanSite& site) {
  std::vector<std::size_t> longest(plan.processes.size(), 0);
  bool differ = false;
  for (const Arm& arm : experiment.arms) {
    const auto other = lower(experiment, arm, slot, site, plan.trial_dir).plan.processes;
    for (std::size_t i = 0; i < other.size(); ++i) {
      const std::size_t bytes = stack_bytes(other[i], site.environment);
      differ = differ || (longest[i] != 0 && longest[i] != bytes);
      longest[i] = std::max(longest[i], bytes);
    }
  }
  if (!differ) return;
  for (std::size_t i = 0; i < plan.processes.size(); ++i) {
    const std::size_t bytes = stack_bytes(plan.processes[i], site.environment);
    plan.processes[i].env[kPadName] = std::string(longest[i] - std::min(longest[i], bytes), 'x');
  }
}

}  // namespace

PlannedTrial plan_trial(const Experiment& experiment, const TrialSlot& slot, const PlanSite& site) {
  const auto trial_dir = site.trials_dir / fmt::format("{:06}", slot.id);
  const Arm& arm = experiment.arms.at(slot.arm);
  PlannedTrial planned = lower(experiment, arm, slot, site, trial_dir);
  TrialPlan& plan = planned.plan;
  plan.id = slot.id;
  plan.block = slot.block;
  plan.position = slot.position;
  plan.arm = arm.name;
  plan.kind = slot.kind;
  plan.trial_dir = trial_dir;
  plan.log_dir = site.log_dir;
  plan.interval_ms = experiment.measure.interval_ms;
  plan.meters = experiment.measure.meters;
  make_lengths_equal(plan, experiment, slot, site);
  return planned;
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace memduel
