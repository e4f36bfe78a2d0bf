// One trial while it runs: a single-threaded loop over the launcher's reports, marks and clocks.
#pragma once

#include <cstdint>
#include <optional>

#include "experiment/marks/text_marks.h"
#include "experiment/supervision/daemons.h"
#include "experiment/supervision/starting.h"
#include "experiment/supervision/stopping.h"
#include "experiment/supervision/supervisor.h"
#include "experiment/supervision/supervisor_result.h"
#include "experiment/supervision/trial_metering.h"
#include "experiment/supervision/trial_processes.h"
#include "experiment/trial/events.h"
#include "experiment/trial/launcher_client.h"
#include "experiment/trial/launcher_reports.h"
#include "experiment/trial/trial_meters.h"

namespace memduel {

/// It owns what it is made of and passes on what happens: `starting` and `stopping` change what the
/// processes do, `metering` what is known of them, `outcome` says how it went.
class Supervision {
 public:
  /// Makes the log files and starts the launcher. `plan` has passed check_plan; both must outlive
  /// this.
  Supervision(const TrialPlan& plan, const SupervisorOptions& options);

  /// See run_trial.
  TrialRun run();

 private:
  void step();
  [[nodiscard]] bool over() const;
  void limit_memory();
  void wait_for_events(std::int64_t until_ns);
  [[nodiscard]] std::int64_t logs_due_ns() const;
  void look_at_logs(std::int64_t now_ns);
  void take_marks(SupervisedProcess& process);
  void take_report(const std::optional<Packet>& packet);
  void exited(const Exited& exited);
  void end_process(SupervisedProcess& process, const ExitRecord& record);
  void end_trial();
  void check_ports();
  [[nodiscard]] bool killed_for_memory() const;

  const TrialPlan& plan_;
  const SupervisorOptions& options_;
  std::int64_t begin_ns_;
  std::optional<std::int64_t> oom_kills_before_;
  Events events_;
  TrialOutcome outcome_;
  TrialMeters meters_;
  LauncherClient launcher_;
  TrialProcesses processes_;
  TextMarks text_marks_;
  TrialMetering metering_;
  Starting starting_;
  Stopping stopping_;
  Daemons daemons_;
};

}  // namespace memduel
