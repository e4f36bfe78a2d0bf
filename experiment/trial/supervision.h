// One trial while it runs: a single-threaded loop over the launcher's reports, marks and clocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/marks/text_marks.h"
#include "experiment/trial/allocator_check.h"
#include "experiment/trial/cgroup_peak.h"
#include "experiment/trial/exit_verdict.h"
#include "experiment/trial/last_pid.h"
#include "experiment/trial/launcher_client.h"
#include "experiment/trial/role_members.h"
#include "experiment/trial/role_memory.h"
#include "experiment/trial/supervised_process.h"
#include "experiment/trial/supervisor.h"
#include "experiment/trial/supervisor_result.h"
#include "experiment/trial/trial_meters.h"

namespace memduel {

class Supervision {
 public:
  /// Makes the log files. `plan` has passed check_plan.
  Supervision(const TrialPlan& plan, const SupervisorOptions& options);

  /// See run_trial.
  TrialRun run();

 private:
  using State = SupervisedProcess::State;

  // The loop: supervision.cpp
  void step();
  [[nodiscard]] bool over() const;
  [[nodiscard]] bool is_starting() const;
  [[nodiscard]] bool stop_asked() const;
  void watch(int descriptor, SupervisedProcess* process) const;
  [[nodiscard]] std::int64_t next_due() const;
  void wait_for_events(std::int64_t until_ns);

  // Starting: supervision.cpp
  SupervisedProcess* find(const std::string& role);
  SupervisedProcess& named(const std::string& role) { return *find(role); }
  static std::optional<std::string> holder_of_port(const SupervisedProcess& process);
  void start_what_can_start();
  void check_readiness(std::int64_t now);

  // Ending: supervision_ending.cpp
  void check_deadlines(std::int64_t now);
  [[nodiscard]] std::string never_ends() const;
  void stop_others_when_due();
  void stop_after_last_round();
  void begin_stopping();
  void signal_running(int number);
  void stop(SupervisedProcess& process, int number);
  void fail(const SupervisedProcess& process, const std::string& what);
  void end_trial();
  void check_launcher(std::int64_t now);
  void check_ports();
  void limit_logs(std::int64_t now);
  void throw_if_stopped() const;

  // Daemons: supervision_daemons.cpp
  bool goes_on_as_daemon(SupervisedProcess& process, const ExitRecord& record);
  bool has_living_members(SupervisedProcess& process);
  void check_daemons();

  // What the launcher says: supervision_reports.cpp
  void take_report(const std::optional<Packet>& report);
  void spawned(const std::vector<std::string>& fields);
  void unstarted(const std::vector<std::string>& fields);
  void exited(const std::vector<std::string>& fields);
  void end_process(SupervisedProcess& process, const ExitRecord& record);
  void ended(const std::vector<std::string>& fields);
  [[nodiscard]] ExitContext exit_context(const SupervisedProcess& process) const;
  [[nodiscard]] bool killed_for_memory() const;
  [[nodiscard]] std::string came_too_early(const SupervisedProcess& process) const;

  // What is measured: supervision_metering.cpp
  void add_member(SupervisedProcess& process, pid_t pid);
  void find_members(std::int64_t now);
  RoleTrace& matched_trace(const std::string& role, std::int64_t now);
  void add_matched(const Member& member, std::int64_t now);
  [[nodiscard]] const SupervisedProcess& reference() const;
  void take_marks(SupervisedProcess& process);
  void note_round(SupervisedProcess& process, MarkEvent& event);
  void lend_round(const SupervisedProcess& from, const Mark& mark);
  void count_round(RoleTrace& trace, const Mark& mark);
  void sweep_between_rounds(std::int64_t now);
  void sweep_at_round_end(const SupervisedProcess& process, int round);
  void sweep_all(TrialMeters::Need need);

  // The arm's allocator: supervision_allocator.cpp
  void watch_allocators(std::int64_t now);
  void verify_allocators();

  // Marks from lines of logs: supervision_text_marks.cpp
  void watch_logs(int operation) const;
  void read_text_marks(std::int64_t now);
  void take_marked_lines(const std::vector<MarkedLine>& lines);
  void take_text_mark(SupervisedProcess& process, Mark mark);
  void take_text_mark(RoleTrace& trace, Mark mark);
  [[nodiscard]] std::vector<pid_t> processes_of(const std::string& role);

  const TrialPlan& plan_;
  const SupervisorOptions& options_;
  TrialMeters meters_;
  std::int64_t begin_ns_;
  std::optional<std::int64_t> oom_kills_before_;
  std::deque<SupervisedProcess> processes_;
  std::optional<TextMarks> text_marks_;
  std::map<std::string, RoleMemory> role_memory_;
  RoleMembers members_;
  std::map<std::string, RoleTrace> matched_;
  CgroupPeak cgroup_peak_;
  AllocatorWatch allocator_watch_;
  LauncherClient* launcher_ = nullptr;
  Descriptor poll_;
  std::int64_t readiness_due_ns_ = 0;
  LastPid last_pid_;
  std::int64_t members_due_ns_ = 0;
  std::int64_t new_members_due_ns_ = 0;
  std::int64_t matches_until_ns_ = 0;
  std::int64_t sweep_due_ns_;
  std::int64_t logs_due_ns_ = 0;
  std::int64_t stopping_since_ns_ = 0;
  std::int64_t launcher_due_ns_ = 0;
  std::int64_t launcher_stopped_ns_ = 0;  ///< since when
  std::optional<std::int64_t> last_round_swept_ns_;
  bool grace_is_over_ = false;
  bool stopped_after_round_ = false;
  bool launcher_lost_ = false;
  bool launcher_ended_ = false;
  TrialOutcome outcome_;
};

}  // namespace memduel
