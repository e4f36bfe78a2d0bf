// What one trial starts, where its processes log to, and what running it gives: the contract
// between the planner, which lowers a workload to processes, and the supervisor, which runs them
// and knows nothing of workloads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/run_data.h"

namespace memduel {

/// Where the processes of a trial log to.
struct TrialLogs {
  std::filesystem::path directory;
  std::int64_t trial = 0;  ///< its number, which names begin with

  /// The standard output ("stdout") or standard error ("stderr") of a role.
  [[nodiscard]] std::filesystem::path file(const std::string& role, const char* stream) const {
    return directory / (std::to_string(trial) + "-" + role + "." + stream);
  }

  /// Marks from lines, each with the file that holds its lines.
  [[nodiscard]] std::vector<TextMarkSpec> located(std::vector<TextMarkSpec> specs) const {
    using From = TextMarkSpec::From;
    for (TextMarkSpec& spec : specs) {
      if (spec.from == From::file) continue;
      spec.file = file(spec.role, spec.from == From::standard_error ? "stderr" : "stdout");
    }
    return specs;
  }
};

// Codes of notes that trials and watched jobs share.
inline constexpr const char* kPeaksSampledFromOutside = "peaks_sampled_from_outside";
inline constexpr const char* kMarksOfSeveralProcesses = "marks_of_several_processes";

/// Advice for a job that nothing ends.
inline constexpr const char* kGiveATrialAnEnd =
    "set \"end\": \"wait\" for one of them, or stop_after_round for the workload";

/// When a started process counts as ready; the processes that name it in `after` wait for that.
struct Ready {
  std::optional<int> port;                 ///< seen listening in /proc/net/tcp, never by connecting
  std::optional<std::string> log_pattern;  ///< PCRE2, on stdout and stderr
  std::optional<std::filesystem::path> file;  ///< exists
  double delay_seconds = 0;                   ///< after the condition, or alone
  double within_seconds = 60;
};

/// What must serve malloc in a process and all that it starts.
struct RequiredAllocator {
  std::string name;               ///< as the arm names it
  std::filesystem::path library;  ///< empty: libc
  std::filesystem::path
      witness;  ///< the file that the witness writes; made before the process starts
};

/// Where a role is measured that runs on another machine: by memduel watch there.
struct RemoteRole {
  std::string node;           ///< its name
  std::filesystem::path run;  ///< that the watch leaves; a file system of all nodes has it
  std::string token;          ///< which that run must carry; its step has the name
};

struct ProcessSpec {
  std::string role;
  std::optional<pid_t> joined;  ///< runs already and is joined; absent: memduel starts it
  std::vector<std::string>
      argv;                   ///< argv[0] is looked up in PATH unless it has a slash; never a shell
  std::filesystem::path cwd;  ///< empty: the trial's directory
  std::map<std::string, std::string> env;  ///< added to memduel's own environment
  std::vector<std::string> after;
  std::optional<Ready> ready;  ///< absent: ready once started
  End end = End::wait;
  bool takes_rounds = false;  ///< has the reference role's rounds unless it marks some itself
  std::vector<int> exit_statuses = {0};
  int node = 1;                      ///< of the allocation; 1: this machine
  std::optional<RemoteRole> remote;  ///< absent for one that runs here
  /// Where the recorder in it leaves its counters; made before it starts. Absent: no recorder.
  std::optional<std::filesystem::path> heap_dir;
  std::string heap_obstacle;  ///< why there is none although it was asked for
  /// No program of its command can be counted in, in any trial: its anonymous memory is sampled.
  bool is_never_counted = false;
  /// Where the trial's tracer leaves its files; made before it starts. Absent: it is not traced.
  std::optional<std::filesystem::path> trace_dir;
  std::string trace_obstacle;                  ///< why it is not although it was asked for
  std::optional<RequiredAllocator> allocator;  ///< verified, or the trial has failed; absent: any
};

struct MemoryLimitOfTrial {
  std::int64_t bytes = 0;
  /// The private memory that each process may map for writing, by RLIMIT_DATA; else what all
  /// processes together may be charged, without swap, by the trial's control group.
  bool of_each_process = false;
};

struct TrialPlan {
  std::int64_t id = 0;
  int block = 0;
  int position = 0;
  std::string arm;
  TrialKind kind = TrialKind::measure;
  std::string tracer;               ///< of a profile trial; empty otherwise
  std::filesystem::path trial_dir;  ///< exists, private to the trial
  /// Exists; <id>-<role>.stdout and .stderr are written there. Empty: processes keep their own.
  std::filesystem::path log_dir;
  std::vector<ProcessSpec> processes;
  std::string reference;  ///< the role whose rounds are the job's; empty: the first
  std::vector<TextMarkSpec> text_marks;
  std::vector<RoleMatch> match;
  std::map<std::string, int> ports;  ///< chosen for this trial, by name; free again after it
  std::optional<int>
      stop_after_round;  ///< the trial ends, well, when its roles have ended this one
  /// Absent: no limit.
  std::optional<MemoryLimitOfTrial> memory_limit;
  double deadline_seconds = 600;
  double stop_grace_seconds = 5;
  bool ignores_stop = false;  ///< goes on when memduel is asked to stop: what cleans up
  double interval_ms = 2;
  bool pss_between_rounds = false;  ///< not at the ends of rounds only
  /// PSS is read by time alone; absent: at the ends of rounds, or each second without any.
  std::optional<double> pss_interval_seconds;
  std::optional<int> rounds;  ///< how many are expected: costly readings are kept for the last one
  std::vector<std::string> meters;  ///< names from the registry
};

inline TrialLogs logs_of(const TrialPlan& plan) {
  return {plan.log_dir, plan.id};
}

/// Whether descendants are of this role.
bool is_matched_role(const TrialPlan& plan, const std::string& role);

/// Throws Error(usage) for a plan without processes or without one that ends the trial, an empty
/// argv, a role that is named twice or `all`, an unknown or circular `after`, an unknown meter.
void check_plan(const TrialPlan& plan);

/// The PATH by which the process is looked up: its own, or memduel's.
std::string path_of(const ProcessSpec& process);

/// A trial and what has to be said about it; notes with the same code may come from every trial.
struct TrialRun {
  TrialData trial;
  std::map<pid_t, std::string> matched = {};  ///< descendants of roles of their own
  std::vector<Note> limitations;
  std::vector<Note> warnings;
  std::optional<int> prepare_status = std::nullopt;  ///< of the prepare step that failed, if any
};

/// The warning that processes were left behind by roles that had ended, and were killed.
inline constexpr const char* kLeftOver = "processes_left_over";

/// The warning that a trial was to be stopped after a round, and no role marked one.
inline constexpr const char* kNoRoundToStopAfter = "no_round_to_stop_after";

/// run_trial, or a fake of it.
using RunTrial = std::function<TrialRun(const TrialPlan&)>;

}  // namespace memduel
