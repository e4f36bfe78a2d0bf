#include "experiment/plan/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "experiment/plan/allocator_arm.h"
#include "experiment/plan/plan_command.h"
#include "experiment/plan/programs.h"
#include "experiment/plan/spread_roles.h"
#include "profilers/profile/capture/preload.h"
#include "profilers/tracers/preloaded.h"
#include "profilers/tracers/registry.h"

namespace memduel {
namespace {

constexpr char kPadName[] = "MEMDUEL_PAD";

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

EnvironmentVariables variables_of(const ProcessSpec& process, const PlanSite& site) {
  EnvironmentVariables variables = site.environment;
  for (const auto& [name, value] : process.env) variables[name] = value;
  return variables;
}

/// Why nothing that is preloaded can enter the process; empty when it can.
std::string obstacle_to(const ProcessSpec& process, const PlanSite& site,
                        const EnvironmentVariables& variables,
                        const std::filesystem::path& trial_dir) {
  if (process.node > 1) return "it runs on another node";
  const auto found_out = site.unrecordable.find(process.role);
  if (found_out != site.unrecordable.end()) return found_out->second;
  const auto cwd = process.cwd.empty() ? trial_dir : process.cwd;
  const auto program = resolve_program(process.argv.front(), cwd, value_in(variables, "PATH"));
  return obstacle_to_recording(program.value_or(process.argv.front()));
}

/// Has the recorder count in the processes that it can enter.
void count_heap(std::vector<ProcessSpec>& processes, const PlanSite& site,
                const std::filesystem::path& trial_dir) {
  for (ProcessSpec& process : processes) {
    const EnvironmentVariables variables = variables_of(process, site);
    process.heap_obstacle = obstacle_to(process, site, variables, trial_dir);
    if (!process.heap_obstacle.empty()) {
      process.is_never_counted = process.node <= 1 && !site.unrecordable.contains(process.role);
      continue;
    }
    process.heap_dir = trial_dir / "heap" / process.role;
    Preload preload;
    preload.mode = RecordMode::count;
    for (const auto& [name, value] :
         recording_environment(preload, *process.heap_dir, value_in(variables, "LD_PRELOAD")))
      process.env[name] = value;
  }
}

/// Lets the trial's tracer into the processes that it can enter. The recorder keeps its counters
/// beside its profiles; they are not counted besides under any other.
void attach_tracer(TrialPlan& plan, const TracerEntry& entry, const TrialSlot& slot,
                   const PlanSite& site, const std::filesystem::path& trial_dir) {
  const auto tracer = entry.make();
  TracerOptions options;
  options.every_allocation = slot.every_allocation;
  for (ProcessSpec& process : plan.processes) {
    const EnvironmentVariables variables = variables_of(process, site);
    std::string obstacle = obstacle_to(process, site, variables, trial_dir);
    const bool counts = entry.name == kRecorderTracer;
    if (!obstacle.empty()) {
      (counts ? process.heap_obstacle : process.trace_obstacle) = std::move(obstacle);
      continue;
    }
    const auto peak = slot.peaks.find(process.role);
    options.known_peak_bytes = peak == slot.peaks.end() ? 0 : peak->second;
    process.trace_dir = trial_dir / "trace" / process.role;
    if (counts) process.heap_dir = process.trace_dir;
    for (const auto& [name, value] : tracer->variables(*process.trace_dir, variables, options))
      process.env[name] = value;
    if (process.ready) process.ready->within_seconds *= entry.patience;
  }
  plan.stop_grace_seconds *= entry.patience;
}

PlannedTrial lower_job(const Experiment& experiment, const Arm& arm, const TrialSlot& slot,
                       const PlanSite& site, const std::filesystem::path& trial_dir,
                       double deadline_seconds) {
  // A profile trial is of no block; it does what the warm-up did.
  PlannedTrial planned =
      plan_command(experiment.job, arm,
                   {trial_dir, experiment.seed, std::max(slot.block, 0), deadline_seconds,
                    site.values, addresses_of_roles(arm, site)});
  planned.plan.deadline_seconds = deadline_seconds;
  return planned;
}

/// Before anything else is preloaded.
void preload_allocators(TrialPlan& plan, const Arm& arm, const PlanSite& site) {
  if (!arm.allocator) return;
  for (ProcessSpec& process : plan.processes)
    preload_allocator(process, *arm.allocator, value_in(site.environment, "LD_PRELOAD"));
}

/// After everything else is preloaded.
void require_allocators(TrialPlan& plan, const Arm& arm, const PlanSite& site,
                        const std::filesystem::path& trial_dir) {
  if (!arm.allocator) return;
  for (ProcessSpec& process : plan.processes)
    require_allocator(process, *arm.allocator, value_in(site.environment, "LD_PRELOAD"), trial_dir);
}

PlannedTrial lower(const Experiment& experiment, const Arm& arm, const TrialSlot& slot,
                   const PlanSite& site, const std::filesystem::path& trial_dir) {
  if (slot.kind == TrialKind::profile) {
    const TracerEntry& entry = tracer_named(slot.tracer);
    PlannedTrial planned = lower_job(experiment, arm, slot, site, trial_dir,
                                     experiment.deadline_seconds * entry.patience);
    // A tracer that brings its own allocator replaces the arm's.
    const bool keeps_allocator = entry.allocator.empty();
    if (keeps_allocator) preload_allocators(planned.plan, arm, site);
    attach_tracer(planned.plan, entry, slot, site, trial_dir);
    if (keeps_allocator && !entry.hides_allocator)
      require_allocators(planned.plan, arm, site, trial_dir);
    send_to_nodes(planned.plan, site, trial_dir);
    return planned;
  }
  PlannedTrial planned =
      lower_job(experiment, arm, slot, site, trial_dir, experiment.deadline_seconds);
  preload_allocators(planned.plan, arm, site);
  const auto& meters = experiment.measure.meters;
  if (std::ranges::find(meters, "heap") != meters.end())
    count_heap(planned.plan.processes, site, trial_dir);
  require_allocators(planned.plan, arm, site, trial_dir);
  send_to_nodes(planned.plan, site, trial_dir);
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
  plan.tracer = slot.tracer;
  plan.reference = experiment.facts.reference;
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
