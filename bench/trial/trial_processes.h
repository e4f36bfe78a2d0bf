// The processes of a running trial: each with its state, its logs and when it counts as ready, and
// the role that each belongs to, descendants as they are found.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "memory/proc_files.h"
#include "role_members.h"
#include "trial/marks.h"
#include "trial/trial_plan.h"
#include "trial/trial_trace.h"
#include "util/file.h"

namespace memduel {

/// One process's readiness, asked again and again until it is met.
class Readiness {
 public:
  /// @param logs files that `log_pattern` is looked for in.
  /// Throws Error(usage) when log_pattern is no PCRE2 pattern.
  Readiness(const Ready& ready, std::vector<std::filesystem::path> logs);
  ~Readiness();

  /// `processes` are the role's: only a port that one of them holds counts.
  bool met(std::int64_t now_ns, const std::vector<pid_t>& processes);

  /// What it waits for, for people; names the process that holds the port in its place.
  [[nodiscard]] std::string describe() const;

 private:
  struct LogSearch;
  bool condition_met(const std::vector<pid_t>& processes);
  bool port_is_open(const std::vector<pid_t>& processes);

  Ready ready_;
  std::unique_ptr<LogSearch> log_search_;
  bool port_held_by_another_ = false;
  std::int64_t condition_met_ns_ = 0;
};

/// The number that the kernel gave out last: a cheap way to see that processes or threads were
/// made. Reads /proc/loadavg (proc_loadavg(5)); one look costs about 2 us.
class LastPid {
 public:
  /// Whether a number was given out since the last look; false where the file cannot be read.
  bool moved();

 private:
  ProcFile file_{"/proc/loadavg"};
  pid_t last_ = 0;
};

/// One process of a running trial, as the supervisor sees it.
class SupervisedProcess {
 public:
  enum class State { waiting, starting, running, ended };

  /// Makes the log files. Throws Error(io) when that fails, Error(usage) for a bad log pattern.
  SupervisedProcess(const ProcessSpec& spec, const TrialPlan& plan);

  [[nodiscard]] const ProcessSpec& spec() const { return *spec_; }
  [[nodiscard]] const std::string& role() const { return spec_->role; }

  /// Where it finds the socket for its marks, NAME=VALUE.
  [[nodiscard]] std::vector<std::string> marks_environment() const;
  /// The launcher request that starts it and the descriptors that go with it: of its output, of its
  /// errors (-1 without logs) and of its marks.
  [[nodiscard]] std::vector<std::string> spawn_request() const;
  [[nodiscard]] std::vector<int> spawn_descriptors();
  /// The descriptors were handed over.
  void release_descriptors();

  /// Last lines of its stderr, or of its stdout when that is empty, indented for a message.
  [[nodiscard]] std::string last_words() const;
  /// Since it last wrote to its standard output or error; absent when it never did.
  [[nodiscard]] std::optional<double> silent_seconds() const;

  State state = State::waiting;
  pid_t pid = 0;
  std::vector<pid_t> members;  ///< pid and its descendants as they are found
  bool is_ready = false;
  bool asked_to_stop = false;
  bool has_other_clock = false;  ///< its marks were outside the trial
  /// Its own process has ended and left the work to one of its members.
  bool is_daemon = false;
  std::int64_t started_ns = 0;
  std::optional<int> running_round;
  std::optional<Readiness> readiness;
  RoleMarks marks;
  RoleTrace trace;

 private:
  const ProcessSpec* spec_;
  std::filesystem::path cwd_;
  std::filesystem::path stdout_path_;
  std::filesystem::path stderr_path_;
  Descriptor stdout_;
  Descriptor stderr_;
};

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
                 RoleMembers::OriginOf origin_of = RoleMembers::read_origin);

  /// Of the plan, in its order; they stay where they are.
  [[nodiscard]] std::deque<SupervisedProcess>& started() { return started_; }
  [[nodiscard]] const std::deque<SupervisedProcess>& started() const { return started_; }
  [[nodiscard]] SupervisedProcess* find(const std::string& role);
  [[nodiscard]] SupervisedProcess& named(const std::string& role) { return *find(role); }
  /// The role whose rounds are the job's; it may be of descendants.
  [[nodiscard]] const std::string& reference() const;
  [[nodiscard]] bool any(SupervisedProcess::State state) const;
  [[nodiscard]] bool all_ended() const;

  /// Roles that no process was started as: descendants that match a pattern, or what marks name.
  [[nodiscard]] std::map<std::string, RoleTrace>& matched_traces() { return matched_traces_; }
  /// Such a role begins with the first descendant that matches, or with its first mark.
  RoleTrace& matched_trace(const std::string& role, std::int64_t now_ns);
  /// Every descendant that ever matched.
  [[nodiscard]] const std::map<pid_t, std::string>& matched() const { return members_.matched(); }
  /// Matches of which more processes lived at once than they have numbers.
  [[nodiscard]] const std::set<std::string>& exceeded_matches() const {
    return members_.exceeded();
  }

  [[nodiscard]] std::vector<pid_t> of_role(const std::string& role);

  /// A process of a role has ended, and the kernel told its largest resident set.
  void reaped(pid_t pid, std::int64_t max_rss_bytes);

  /// A started process runs under this number.
  void runs_as(SupervisedProcess& process, pid_t pid);
  /// Finds new processes, as often as a look is cheap.
  void look(std::int64_t now_ns);
  /// The same, now; the processes that have ended are forgotten, however long this goes on.
  void renew(std::int64_t now_ns);
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
  std::int64_t due_ns_ = 0;  ///< 0: at once, and of every process
  std::int64_t new_ones_due_ns_ = 0;
  std::int64_t matches_until_ns_ = 0;
};

}  // namespace memduel
