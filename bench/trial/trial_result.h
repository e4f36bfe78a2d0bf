// From what a supervisor saw to a TrialRun with its notes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/contract/trial_trace.h"
#include "experiment/supervision/supervised_process.h"
#include "experiment/supervision/supervisor.h"
#include "experiment/supervision/trial_processes.h"
#include "experiment/trial/launcher_reports.h"
#include "experiment/trial/trial_meters.h"

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
                     const TrialMeters& meters);

}  // namespace memduel
