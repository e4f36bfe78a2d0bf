#include "trial_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "metrics/heap_metrics.h"
#include "profile/recorded_files.h"
#include "profile/recording.h"
#include "trial/trial_plan.h"
#include "trial/trial_trace.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

void note_roles(std::vector<Note>& notes, const std::vector<std::string>& roles,
                const std::string& code, const std::string& message, const std::string& advice) {
  if (roles.empty()) return;
  notes.push_back({code, fmt::format(fmt::runtime(message), fmt::join(roles, ", ")), advice});
}

void note_meters(TrialRun& run, const TrialOutcome& outcome, int skipped_sweeps) {
  std::vector<std::string> unmarked;
  std::vector<std::string> no_reset;
  for (const RoleTrace& trace : outcome.trace.roles) {
    // Of one process that ended the kernel tells the peak.
    const bool is_sampled = trace.has_several_processes || !trace.exit;
    if (!marks_rounds(trace) && !trace.of_descendants && is_sampled) unmarked.push_back(trace.role);
    if (!trace.peaks_reset) no_reset.push_back(trace.role);
  }
  note_roles(
      run.limitations, unmarked, kPeaksSampledFromOutside,
      "{} sent no markers and ran several processes: it counts as one round, and the sums over its "
      "processes were sampled",
      "mark rounds with memduel_annotate.py (Python) or memduel/annotate.h (C, C++) for exact "
      "peaks");
  note_roles(run.limitations, no_reset, "peaks_not_resettable",
             "{} cannot reset the peak RSS counter (VmHWM), so the peaks of rounds and phases were "
             "sampled",
             "run memduel doctor and see peak_reset");
  if (skipped_sweeps > 0 && std::ranges::any_of(outcome.trace.roles, marks_rounds)) {
    run.limitations.push_back(
        {"pss_rationed",
         "PSS was not read at every round end, to limit the time that reading it "
         "takes",
         ""});
  }
}

void note_stop_after_round(TrialRun& run, const TrialPlan& plan, const TrialOutcome& outcome) {
  if (!plan.stop_after_round || std::ranges::any_of(outcome.trace.roles, marks_rounds)) return;
  run.warnings.push_back(
      {kNoRoundToStopAfter,
       fmt::format(
           "stop_after_round is {}, but no process marked a round, so the job ran to its end",
           *plan.stop_after_round),
       "add log patterns in \"marks\", or mark rounds in the program: docs/marks.md"});
}

void note_phases(TrialRun& run, const TrialTrace& trace) {
  for (const RoleTrace& role : trace.roles) {
    const std::vector<std::string> phases = phases_outside_rounds(role);
    if (phases.empty()) continue;
    run.limitations.push_back(
        {"phases_outside_rounds",
         fmt::format("{} marked {} {} outside its rounds, but memduel compares only phases inside "
                     "rounds",
                     role.role, phases.size() == 1 ? "the phase" : "the phases",
                     fmt::join(phases, ", ")),
         "begin a round before the phase; memduel record also reports phases outside rounds"});
  }
}

void note_matches(TrialRun& run, const TrialPlan& plan, TrialProcesses& processes) {
  for (const std::string& role : processes.exceeded_matches())
    run.warnings.push_back({"match_count_exceeded",
                            fmt::format("more processes of the match {} lived at once than its "
                                        "count; the others belong to their parent's role",
                                        role),
                            "raise \"count\" of the match"});
  for (const RoleMatch& match : plan.match) {
    const auto was_found = [&](const std::string& role) {
      return processes.matched_traces().contains(role);
    };
    if (std::ranges::any_of(match.roles(), was_found)) continue;
    run.warnings.push_back(
        {"match_found_nothing",
         fmt::format("no descendant{} matched \"{}\"{}, so there is no role {}",
                     match.ancestor ? " of " + *match.ancestor : "", match.pattern,
                     match.port ? " and listened on its port" : "", match.role),
         "memduel looks for descendants ten times a second; the pattern must match all arguments, "
         "joined by spaces"});
  }
}

void note_processes(TrialRun& run, const TrialOutcome& outcome,
                    const std::deque<SupervisedProcess>& processes) {
  std::vector<std::string> several;
  std::vector<std::string> garbled;
  std::vector<std::string> daemons;
  std::vector<std::string> other_clocks;
  std::vector<std::string> never_idle;
  std::vector<std::string> lent;
  std::vector<std::string> timed;
  for (const SupervisedProcess& process : processes) {
    if (process.marks.foreign_marks > 0) several.push_back(process.role());
    if (process.marks.garbage_lines > 0) garbled.push_back(process.role());
    if (process.has_other_clock) other_clocks.push_back(process.role());
    if (process.is_daemon) daemons.push_back(process.role());
  }
  for (const RoleTrace& role : outcome.trace.roles)
    if (role.last_round_begun > 0 && !idle_level(role)) never_idle.push_back(role.role);
  for (const RoleTrace& role : outcome.trace.roles)
    if (role.has_lent_rounds) lent.push_back(role.role);
  for (const RoleTrace& role : outcome.trace.roles)
    if (role.last_round_ended_by_time) timed.push_back(role.role);
  note_roles(run.limitations, lent, "rounds_of_reference",
             "the rounds of {} begin and end with those of the reference role",
             "the config sets \"rounds\": \"reference\"");
  note_roles(
      run.limitations, timed, "last_round_ended_by_time",
      "no marker ends the last round of {}, so it was ended after twice the time of the longest "
      "round before it",
      "mark the end of rounds with memduel/annotate.h or memduel_annotate.py, or run one more "
      "round than stop_after_round");
  note_roles(
      run.warnings, daemons, "role_became_daemon",
      "{} put itself into the background; its background processes were measured and stopped as "
      "the role, but their CPU time is missing",
      "start it in the foreground");
  note_roles(run.warnings, several, kMarksOfSeveralProcesses,
             "more than one process of {} sent markers; only those of the first one count",
             "use a separate role for each process");
  note_roles(
      run.warnings, other_clocks, "clock_of_role",
      "the clock of {} differs from the machine's, so the time at which a marker arrived was "
      "used instead of its own",
      "its phases and rounds may be slightly late; with libfaketime, set "
      "FAKETIME_DONT_FAKE_MONOTONIC=1");
  note_roles(
      run.limitations, never_idle, "no_idle_level",
      "{} has no start-up marker, so its peak above start-up was not measured",
      "call idle() of memduel/annotate.h or memduel_annotate.py after its libraries are loaded, "
      "or set \"ready\" or a log pattern with a group (?<idle>…)");
  note_roles(run.warnings, garbled, "garbled_marks", "{} sent invalid markers",
             "send markers only through memduel/annotate.h or memduel_annotate.py");
  note_roles(run.warnings, outcome.escaped, "process_escaped",
             "processes that had left the trial's process tree were killed: {}",
             "start daemons as separate roles");
  note_roles(run.warnings, outcome.killed_after_grace, "killed_after_grace",
             "{} did not exit on SIGTERM and was killed",
             "raise workload.stop_grace_seconds, or make it exit on SIGTERM");
  if (outcome.left_over > 0) {
    run.warnings.push_back({kLeftOver, "processes left behind by the roles were killed", ""});
  }
  if (outcome.survivors > 0) {
    run.warnings.push_back({"processes_survived",
                            fmt::format("{} could not be killed",
                                        format_count(outcome.survivors, "process", "processes")),
                            "look for processes in state D"});
  }
}

/// What the recorder counted in a descendant belongs to the role that it matches.
void give_images_to_matched(TrialTrace& trace, const std::map<pid_t, std::string>& matched) {
  std::map<std::string, std::vector<HeapCounters>> moved;
  for (RoleTrace& role : trace.roles) {
    std::erase_if(role.heap_images, [&](HeapCounters& image) {
      const auto found = matched.find(static_cast<pid_t>(image.pid));
      if (found == matched.end()) return false;
      moved[found->second].push_back(std::move(image));
      return true;
    });
  }
  for (RoleTrace& role : trace.roles) {
    if (role.of_descendants) role.heap_images = std::move(moved[role.role]);
  }
}

void note_uncounted(TrialRun& run, const std::string& role, const std::string& why) {
  run.limitations.push_back({"heap_not_counted",
                             fmt::format("{} has no heap counters: {}", role, why),
                             "see docs/recorder.md"});
}

void note_go_heap(TrialRun& run, const std::string& role) {
  run.limitations.push_back(
      {kGoHeapNote,
       fmt::format(
           "the anonymous memory of {} is the Go heap, of which memduel measures only the total",
           role),
       to_see_go_heap()});
}

void read_heap_images(TrialRun& run, const ProcessSpec& spec, RoleTrace& role) {
  if (!spec.heap_obstacle.empty()) note_uncounted(run, role.role, spec.heap_obstacle);
  if (spec.heap_obstacle == kStaticGo) note_go_heap(run, role.role);
  if (!spec.heap_dir) return;
  HeapImages left;
  try {
    left = read_heap_directory(*spec.heap_dir);
  } catch (const Error& error) {  // a job may remove its own directory
    return note_uncounted(run, role.role, error.message());
  }
  role.heap_images = std::move(left.images);
  for (const std::string& why : left.unreadable) note_uncounted(run, role.role, why);
  if (auto note = program_behind_script(spec, role.heap_images))
    run.limitations.push_back(std::move(*note));
  if (role.heap_images.empty() && left.unreadable.empty())
    note_uncounted(run, role.role, "it started no dynamically linked program");
}

void read_heap_images(TrialRun& run, const TrialPlan& plan, TrialTrace& trace) {
  std::vector<std::string> sampled;
  std::vector<std::string> touched;
  for (RoleTrace& role : trace.roles) {
    const auto spec = std::ranges::find(plan.processes, role.role, &ProcessSpec::role);
    if (spec == plan.processes.end()) continue;
    read_heap_images(run, *spec, role);
    if (!role.heap_images.empty() && !peak_of_main_image(role.heap_images))
      sampled.push_back(role.role);
    if (touches_are_sampled(role)) touched.push_back(role.role);
  }
  note_roles(run.limitations, sampled, "heap_sum_sampled",
             "peak_heap_bytes of {} was sampled because it runs several processes, so it may miss "
             "short peaks",
             "allocated_bytes and allocation_count are exact");
  note_roles(
      run.limitations, touched, "touched_memory_sampled",
      "peak_heap_and_mapped_bytes of {} was sampled because it maps 2 MiB or more at once or runs "
      "programs that cannot be counted",
      "see docs/method.md#memory-that-programs-map-themselves");
}

}  // namespace

void TrialOutcome::fail(const std::string& what) {
  if (failed()) return;
  failure = what;
  if (status == TrialStatus::ok) status = TrialStatus::failed;
}

void TrialOutcome::fail_of(const SupervisedProcess& process, const std::string& what) {
  if (!failed()) fail(fmt::format("{} {}{}", process.role(), what, process.last_words()));
}

void TrialOutcome::fail_harness(const std::string& what) {
  fail(what);
  harness_fault = true;
}

void TrialOutcome::take(const LauncherEnded& ended) {
  harness_cpu_seconds += ended.cpu_seconds;
  left_over = ended.left_over;
  survivors = ended.survivors;
  trace.peak_cgroup_bytes = ended.peak_cgroup_bytes;
}

TrialRun make_result(const TrialPlan& plan, TrialOutcome& outcome, TrialProcesses& processes,
                     TrialMeters& meters) {
  for (SupervisedProcess& process : processes.started()) {
    if (process.started_ns != 0) outcome.trace.roles.push_back(std::move(process.trace));
  }
  for (auto& [role, trace] : processes.matched_traces())
    outcome.trace.roles.push_back(std::move(trace));
  meters.collect(outcome.trace);
  TrialRun run;
  read_heap_images(run, plan, outcome.trace);
  run.matched = processes.matched();
  give_images_to_matched(outcome.trace, run.matched);
  TrialData& trial = run.trial;
  trial.id = plan.id;
  trial.block = plan.block;
  trial.position = plan.position;
  trial.arm = plan.arm;
  trial.kind = plan.kind;
  trial.tracer = plan.tracer;
  trial.status = outcome.status;
  trial.failure = outcome.failure;
  trial.harness_fault = outcome.harness_fault;
  trial.begin_ns = outcome.begin_ns;
  trial.end_ns = outcome.end_ns;
  trial.harness_cpu_seconds = outcome.harness_cpu_seconds;
  trial.allocators = outcome.allocators;
  for (const RoleTrace& trace : outcome.trace.roles) {
    trial.roles.push_back(role_metrics(trace, outcome.trace.sweeps));
    // A round that began before the trial was stopped is none.
    if (plan.stop_after_round) drop_rounds_after(trial.roles.back(), *plan.stop_after_round);
  }
  if (!trial.roles.empty()) trial.roles.push_back(tree_metrics(outcome.trace, trial.roles));
  note_meters(run, outcome, meters.skipped_sweeps());
  note_phases(run, outcome.trace);
  note_processes(run, outcome, processes.started());
  note_matches(run, plan, processes);
  note_stop_after_round(run, plan, outcome);
  run.warnings.insert(run.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  run.limitations.insert(run.limitations.end(), outcome.limitations.begin(),
                         outcome.limitations.end());
  return run;
}

namespace {

namespace fs = std::filesystem;

/// As execvp(3) would find it for the process; empty if it is not there.
fs::path executable(const ProcessSpec& spec, const std::string& name) {
  if (name.find('/') != std::string::npos) return (spec.cwd / name).lexically_normal();
  return resolve_program(name, spec.cwd, path_of(spec)).value_or(fs::path());
}

/// The word that names the program which env(1) or a `#!` line executes.
std::string program_in(std::istream& words) {
  std::string word;
  words >> word;
  if (fs::path(word).filename() != "env") return word;
  while (words >> word)
    if (!word.starts_with("-") && word.find('=') == std::string::npos) return word;
  return {};
}

/// What a `#!` line names; empty for a file of another kind.
std::string interpreter_of(const fs::path& file) {
  constexpr int kMostBytes = 256;  // BINPRM_BUF_SIZE of Linux
  std::string line(kMostBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(line.data(), kMostBytes);
  line.resize(static_cast<std::size_t>(stream.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  return program_in(words);
}

/// /bin may be a link to /usr/bin, and sh one to dash.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code missing;
  return fs::equivalent(one, other, missing);
}

}  // namespace

std::optional<Note> program_behind_script(const ProcessSpec& spec,
                                          const std::vector<HeapCounters>& images) {
  if (images.empty() || spec.argv.empty()) return std::nullopt;
  std::stringstream command;
  for (const std::string& word : spec.argv) command << word << '\n';
  const fs::path script = executable(spec, program_in(command));
  fs::path interpreter = script;
  constexpr int kMostScripts = 5;  // as Linux has it
  for (int i = 0; i < kMostScripts; ++i) {
    const std::string next = interpreter_of(interpreter);
    if (next.empty()) break;
    interpreter = executable(spec, next);
  }
  if (script.empty() || interpreter == script) return std::nullopt;
  std::string program;  // the last of the role's first process
  for (const HeapCounters& image : images)
    if (image.pid == images.front().pid) program = image.program;
  if (interpreter.empty() || is_same_file(interpreter, program)) return std::nullopt;
  return Note{
      "program_behind_script",
      fmt::format("{} is a script, {}, that starts {}; its memory and time are in all numbers",
                  spec.argv.front(), script.string(), program),
      "to measure the program without the script, use its path in the command"};
}

}  // namespace memduel
