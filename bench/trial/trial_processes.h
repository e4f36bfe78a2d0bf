// The processes of a running trial and the role that each belongs to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/contract/trial_plan.h"
#include "experiment/contract/trial_trace.h"
#include "experiment/supervision/supervised_process.h"
#include "experiment/trial/last_pid.h"
#include "experiment/trial/role_members.h"

namespace memduel {

/// Those that were started as roles, and their descendants as they are found.
class TrialProcesses {
 public:
  /// Those that live now; absent: nobody can tell any more.
  using Living = std::function<std::optional<std::vector<pid_t>>()>;
  using Joined = std::function<void(const std::string& role, pid_t pid)>;

  /// Makes the log files; `plan` must outlive this. `joined` hears of every process once it is
  /// known to be of a role. Throws Error(io) when a log cannot be made, Error(usage) for a bad
  /// pattern.
  TrialProcesses(const TrialPlan& plan, Living living, Joined joined,
                 std::function<ProcessOrigin(pid_t)> origin_of = RoleMembers::read_origin);

  /// Of the plan, in its order; they stay where they are.
  [[nodiscard]] std::deque<SupervisedProcess>& started() { return started_; }
  [[nodiscard]] const std::deque<SupervisedProcess>& started() const { return started_; }
  [[nodiscard]] SupervisedProcess* find(const std::string& role);
  [[nodiscard]] SupervisedProcess& named(const std::string& role) { return *find(role); }
  /// The one whose rounds are the job's.
  [[nodiscard]] const SupervisedProcess& reference() const;
  [[nodiscard]] bool any(SupervisedProcess::State state) const;
  [[nodiscard]] bool all_ended() const;

  /// Roles that no process was started as: descendants that match a pattern, or what marks name.
  [[nodiscard]] std::map<std::string, RoleTrace>& matched_traces() { return matched_traces_; }
  /// Such a role begins with the first descendant that matches, or with its first mark.
  RoleTrace& matched_trace(const std::string& role, std::int64_t now_ns);
  /// Every descendant that ever matched.
  [[nodiscard]] const std::map<pid_t, std::string>& matched() const { return members_.matched(); }

  [[nodiscard]] std::vector<pid_t> of_role(const std::string& role);

  /// A process of a role has ended, and the kernel told its largest resident set.
  void reaped(pid_t pid, std::int64_t max_rss_bytes);

  /// A started process runs under this number.
  void runs_as(SupervisedProcess& process, pid_t pid);
  /// Finds new processes, as often as a look is cheap.
  void look(std::int64_t now_ns);
  /// Looks at once, where a role of descendants has no process that is known: a line of its log
  /// says that one lives.
  void look_for(const std::string& role, std::int64_t now_ns);
  /// Whether any process of the role lives. Looks again before it says no: one that forked twice
  /// left a process that was not seen yet.
  bool has_living(SupervisedProcess& process, std::int64_t now_ns);

 private:
  void add_member(SupervisedProcess& process, pid_t pid);
  void take(const Member& member, std::int64_t now_ns);
  RoleTrace* trace_of(pid_t pid);

  const TrialPlan& plan_;
  Living living_;
  Joined joined_;
  std::deque<SupervisedProcess> started_;
  RoleMembers members_;
  std::map<std::string, RoleTrace> matched_traces_;
  LastPid last_pid_;
  std::int64_t due_ns_ = 0;
  std::int64_t new_ones_due_ns_ = 0;
  std::int64_t matches_until_ns_ = 0;
};

}  // namespace memduel
