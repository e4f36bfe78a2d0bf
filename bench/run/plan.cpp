// From an arm to the processes of one trial: the job's placeholders are filled, then its
// environments made equal.

#include "run/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "allocator_arm.h"
#include "config/placeholders.h"
#include "external/preloaded.h"
#include "external/tracers.h"
#include "google_benchmark_output.h"
#include "model/job.h"
#include "profile/recording.h"
#include "remote_roles.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {

/// The job's processes and all else of it, with placeholders replaced.
PlannedTrial plan_command(const Job& job, const Variant& arm, const PlaceholderValues& values);

namespace {

/// Lowers one arm's job for one trial.
class JobPlanner {
 public:
  JobPlanner(const Job& job, const Variant& arm, const PlaceholderValues& values)
      : job_(job), arm_(arm), trial_dir_(values.trial_dir), placeholders_(values) {}

  PlannedTrial plan() {
    PlannedTrial planned;
    planned.plan.stop_grace_seconds = job_.stop_grace_seconds;
    planned.plan.pss_between_rounds = job_.pss_between_rounds;
    planned.plan.stop_after_round = job_.stop_after_round;
    planned.plan.rounds = job_.stop_after_round ? job_.stop_after_round : job_.rounds;
    planned.plan.match = matches();
    planned.plan.processes = processes();
    planned.plan.text_marks = text_marks();
    planned.prepare = steps("prepare", {&job_.prepare, &arm_.prepare});
    planned.cleanup = steps("cleanup", {&arm_.cleanup, &job_.cleanup});
    for (const auto* templates : {&job_.templates, &arm_.templates})
      for (const JobTemplate& each : *templates) planned.files[fill(each.to)] = contents_of(each);
    planned.artifacts = job_.artifacts();
    for (Artifact& artifact : planned.artifacts) artifact.path = fill(artifact.path);
    if (planned.artifacts.empty() && planned.plan.processes.size() == 1 &&
        planned.plan.processes.front().end == End::wait)
      planned.artifacts.push_back({Artifact::Kind::printed, kStandardOutput, {}, {}});
    planned.plan.ports = placeholders_.ports();
    return planned;
  }

 private:
  std::string fill(const std::string& text) {
    return placeholders_.fill(text, "variant " + arm_.name);
  }

  std::vector<std::string> filled(const Argv& argv) {
    std::vector<std::string> words;
    for (const std::string& word : argv) words.push_back(fill(word));
    words.front() = own_program(words.front());
    return words;
  }

  std::string contents_of(const JobTemplate& source) {
    if (!source.from) return placeholders_.fill_json(*source.json, source.to);
    const std::string from = fill(*source.from);
    return placeholders_.fill_template(read_file_of_at_most(from, kMostTemplateBytes), from);
  }

  std::vector<ProcessSpec> processes() {
    std::vector<ProcessSpec> result;
    std::map<std::string, std::vector<std::string>> roles;
    for (const JobProcess& source : arm_.processes) {
      roles[source.role] = source.roles();
      for (std::size_t i = 0; i < roles[source.role].size(); ++i) {
        placeholders_.set_index(static_cast<int>(i) + 1);
        ProcessSpec process = planned(source, roles[source.role][i]);
        process.node = source.node(i);
        for (const std::string& after : source.after)
          process.after.insert(process.after.end(), roles[after].begin(), roles[after].end());
        result.push_back(std::move(process));
      }
    }
    placeholders_.set_index({});
    return result;
  }

  std::vector<RoleMatch> matches() {
    std::vector<RoleMatch> all = job_.match;
    for (RoleMatch& match : all) {
      match.pattern = placeholders_.fill_pattern(match.pattern);
      if (match.port_name) match.port = placeholders_.port(*match.port_name);
    }
    return all;
  }

  std::vector<TextMarkSpec> text_marks() {
    auto marks = planned_text_marks(job_, [this](TextMarkSpec& mark, int index) {
      placeholders_.set_index(index);
      mark.file = fill(mark.file.string());
      mark.pattern = placeholders_.fill_pattern(mark.pattern);
    });
    placeholders_.set_index({});
    return marks;
  }

  ProcessSpec planned(const JobProcess& source, const std::string& role) {
    ProcessSpec process;
    process.role = role;
    process.argv = filled(source.argv);
    process.cwd = fill(source.cwd);
    process.env = environment_of(source.env);
    process.env.emplace(kBenchmarkOutput, benchmark_output(trial_dir_, role));
    if (source.ready) process.ready = planned(*source.ready);
    process.end = source.end;
    process.takes_rounds = source.takes_rounds;
    process.exit_statuses = source.exit_statuses;
    return process;
  }

  /// Python holds back what it prints to a file, and with it the marks in it.
  std::map<std::string, std::string> environment_of(
      const std::map<std::string, std::string>& source) {
    std::map<std::string, std::string> environment;
    for (const auto& [name, value] : source) environment[name] = fill(value);
    environment.emplace("PYTHONUNBUFFERED", "1");
    return environment;
  }

  Ready planned(const JobReady& source) {
    Ready ready;
    ready.port = source.port;
    if (source.port_name) ready.port = placeholders_.port(*source.port_name);
    if (source.log) ready.log_pattern = placeholders_.fill_pattern(*source.log);
    if (source.file) ready.file = fill(*source.file);
    ready.delay_seconds = source.delay_seconds;
    ready.within_seconds = source.within_seconds;
    return ready;
  }

  /// The commands of prepare or cleanup. A '.' keeps their logs apart from those of roles.
  std::vector<ProcessSpec> steps(const std::string& name,
                                 std::initializer_list<const std::vector<Argv>*> commands) {
    std::vector<ProcessSpec> result;
    for (const std::vector<Argv>* some : commands)
      for (const Argv& argv : *some) {
        ProcessSpec step;
        step.role = fmt::format("{}.{}", name, result.size() + 1);
        step.argv = filled(argv);
        step.cwd = fill(job_.cwd);
        step.env = environment_of(arm_.env);
        result.push_back(std::move(step));
      }
    return result;
  }

  const Job& job_;
  const Variant& arm_;
  const std::filesystem::path trial_dir_;
  TrialPlaceholders placeholders_;
};

}  // namespace

PlannedTrial plan_command(const Job& job, const Variant& arm, const PlaceholderValues& values) {
  return JobPlanner(job, arm, values).plan();
}

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
    for (const auto& [name, value] : entry.variables(*process.trace_dir, variables, options))
      process.env[name] = value;
    if (process.ready) process.ready->within_seconds *= entry.patience;
  }
  plan.stop_grace_seconds *= entry.patience;
}

PlannedTrial lower_job(const Experiment& experiment, const Variant& arm, const TrialSlot& slot,
                       const PlanSite& site, const std::filesystem::path& trial_dir,
                       double deadline_seconds) {
  // A profile trial is of no block; it does what the warm-up did.
  PlannedTrial planned =
      plan_command(experiment.config.workload.job, arm,
                   {trial_dir, *experiment.config.workload.job.seed, std::max(slot.block, 0),
                    deadline_seconds, site.values, addresses_of_roles(arm, site)});
  planned.plan.deadline_seconds = deadline_seconds;
  return planned;
}

/// Before anything else is preloaded.
void preload_allocators(TrialPlan& plan, const Variant& arm, const PlanSite& site) {
  if (!arm.allocator) return;
  for (ProcessSpec& process : plan.processes)
    preload_allocator(process, *arm.allocator, value_in(site.environment, "LD_PRELOAD"));
}

/// After everything else is preloaded.
void require_allocators(TrialPlan& plan, const Variant& arm, const PlanSite& site,
                        const std::filesystem::path& trial_dir) {
  if (!arm.allocator) return;
  for (ProcessSpec& process : plan.processes)
    require_allocator(process, *arm.allocator, value_in(site.environment, "LD_PRELOAD"), trial_dir);
}

PlannedTrial lower(const Experiment& experiment, const Variant& arm, const TrialSlot& slot,
                   const PlanSite& site, const std::filesystem::path& trial_dir) {
  if (slot.kind == TrialKind::profile) {
    const TracerEntry& entry = tracer_named(slot.tracer);
    PlannedTrial planned =
        lower_job(experiment, arm, slot, site, trial_dir,
                  experiment.config.workload.job.deadline_seconds * entry.patience);
    // A tracer that brings its own allocator replaces the arm's.
    const bool keeps_allocator = entry.allocator.empty();
    if (keeps_allocator) preload_allocators(planned.plan, arm, site);
    attach_tracer(planned.plan, entry, slot, site, trial_dir);
    if (keeps_allocator && !entry.hides_allocator)
      require_allocators(planned.plan, arm, site, trial_dir);
    send_to_nodes(planned.plan, site, trial_dir);
    return planned;
  }
  PlannedTrial planned = lower_job(experiment, arm, slot, site, trial_dir,
                                   experiment.config.workload.job.deadline_seconds);
  preload_allocators(planned.plan, arm, site);
  const auto& meters = *experiment.config.measure.meters;
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
  for (const Variant& arm : experiment.variants) {
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
  const Variant& arm = experiment.variants.at(slot.arm);
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
  plan.interval_ms = experiment.config.measure.interval_ms;
  plan.meters = *experiment.config.measure.meters;
  make_lengths_equal(plan, experiment, slot, site);
  return planned;
}

}  // namespace memduel
