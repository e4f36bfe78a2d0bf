// From what a supervisor saw to a TrialRun with its notes. One of them names the program that a
// script, the command of a role, executed in its own place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher_client.h"
#include "model/run_data.h"
#include "profile/recorded_files.h"
#include "trial/supervisor.h"
#include "trial/trial_plan.h"
#include "trial/trial_trace.h"
#include "trial_metering.h"
#include "trial_processes.h"

namespace memduel {

/// How a trial went as a whole.
struct TrialOutcome {
  TrialStatus status = TrialStatus::ok;
  std::string failure;
  bool harness_fault = false;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double harness_cpu_seconds = 0;
  TrialTrace trace;                             ///< all but its roles
  std::vector<std::string> escaped;             ///< processes outside the tree that were killed
  std::vector<std::string> killed_after_grace;  ///< roles that did not end on SIGTERM
  std::vector<Note> warnings;                   ///< of other kinds
  std::vector<Note> limitations;
  std::map<std::string, std::string> allocators;  ///< role to the file its malloc came from
  int left_over = 0;                              ///< processes that the roles had left behind
  int survivors = 0;                              ///< processes that could not be killed

  [[nodiscard]] bool failed() const { return !failure.empty(); }
  void fail(const std::string& what);
  /// The same, with the process's last words.
  void fail_of(const SupervisedProcess& process, const std::string& what);
  void fail_harness(const std::string& what);
  void take(const LauncherEnded& ended);
};

/// Takes the traces out of `processes`.
TrialRun make_result(const TrialPlan& plan, TrialOutcome& outcome, TrialProcesses& processes,
                     TrialMeters& meters);

/// A limitation that names the program which a script, the command of `spec`, executed in its own
/// place. Absent if the command is no script, or if its interpreter ran to the end. `images` are
/// those of the role, in the order in which they started.
std::optional<Note> program_behind_script(const ProcessSpec& spec,
                                          const std::vector<HeapCounters>& images);

}  // namespace memduel
