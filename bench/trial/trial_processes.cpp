#include "experiment/supervision/trial_processes.h"

#include <algorithm>
#include <utility>

#include "experiment/marks/monotonic.h"
#include "experiment/trial/launcher/process_tree.h"

namespace memduel {
namespace {

/// A worker that lives for 30 ms may make a job's peak, so the list is read sooner where processes
/// were made.
constexpr std::int64_t kInterval = kSecondNs / 10;
constexpr std::int64_t kNewOnesInterval = kSecondNs / 50;
/// A new process may be found before it executes the program whose arguments match a role, and that
/// may have its memory after ten milliseconds: it is looked at often, for so long.
constexpr std::int64_t kMatchesInterval = kSecondNs / 200;
constexpr std::int64_t kUntilExecuted = kSecondNs / 5;
/// A control group's list costs 20 us, that of a process's children some 10 us for each, and all of
/// /proc may cost 10 ms: looking takes a hundredth of a CPU at most.
constexpr std::int64_t kRestPerLook = 100;

bool is_gone(pid_t pid) {
  const auto line = process_line(pid);
  return !line || is_dead(*line);
}

}  // namespace

TrialProcesses::TrialProcesses(const TrialPlan& plan, Living living, Joined joined,
                               std::function<ProcessOrigin(pid_t)> origin_of)
    : plan_(plan),
      living_(std::move(living)),
      joined_(std::move(joined)),
      members_(plan.match, std::move(origin_of)) {
  for (const ProcessSpec& spec : plan.processes) started_.emplace_back(spec, plan);
}

SupervisedProcess* TrialProcesses::find(const std::string& role) {
  const auto found = std::ranges::find(started_, role, &SupervisedProcess::role);
  return found == started_.end() ? nullptr : &*found;
}

const SupervisedProcess& TrialProcesses::reference() const {
  const auto named = std::ranges::find(started_, plan_.reference, &SupervisedProcess::role);
  return named == started_.end() ? started_.front() : *named;
}

bool TrialProcesses::any(SupervisedProcess::State state) const {
  return std::ranges::find(started_, state, &SupervisedProcess::state) != started_.end();
}

bool TrialProcesses::all_ended() const {
  return std::ranges::all_of(started_, [](const SupervisedProcess& process) {
    return process.state == SupervisedProcess::State::ended;
  });
}

RoleTrace& TrialProcesses::matched_trace(const std::string& role, std::int64_t now_ns) {
  RoleTrace& trace = matched_traces_[role];
  if (trace.role.empty()) {
    trace.role = role;
    trace.begin_ns = now_ns;
    trace.rss.metric = "rss_bytes";
    trace.of_descendants = true;
    trace.ended_well = true;
  }
  return trace;
}

std::vector<pid_t> TrialProcesses::of_role(const std::string& role) {
  if (const SupervisedProcess* process = find(role)) return process->members;
  std::vector<pid_t> matching;
  for (const auto& [pid, matched_role] : matched()) {
    if (matched_role == role) matching.push_back(pid);
  }
  return matching;
}

void TrialProcesses::runs_as(SupervisedProcess& process, pid_t pid) {
  process.pid = pid;
  members_.add_root(process.role(), pid);
  add_member(process, pid);
  process.trace.has_several_processes = process.members.size() > 1;
}

void TrialProcesses::add_member(SupervisedProcess& process, pid_t pid) {
  // A role's own process may be found before the launcher's report of it is read.
  if (std::ranges::find(process.members, pid) != process.members.end()) return;
  process.members.push_back(pid);
  joined_(process.role(), pid);
}

void TrialProcesses::look(std::int64_t now_ns) {
  const bool soon = now_ns >= new_ones_due_ns_ && (last_pid_.moved() || now_ns < matches_until_ns_);
  if (now_ns < due_ns_ && !soon) return;
  const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const auto found = living_();
  if (!found) return;
  const std::int64_t rest = kRestPerLook * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before);
  due_ns_ = now_ns + std::max(kInterval, rest);
  const std::vector<Member> changed = members_.update(*found);
  if (!changed.empty() && !plan_.match.empty()) matches_until_ns_ = now_ns + kUntilExecuted;
  new_ones_due_ns_ =
      now_ns + std::max(now_ns < matches_until_ns_ ? kMatchesInterval : kNewOnesInterval, rest);
  for (const Member& member : changed) take(member, now_ns);
}

void TrialProcesses::look_for(const std::string& role, std::int64_t now_ns) {
  const bool is_matched =
      std::ranges::find(plan_.match, role, &RoleMatch::role) != plan_.match.end();
  if (!is_matched || !of_role(role).empty()) return;
  due_ns_ = 0;
  look(now_ns);
}

void TrialProcesses::take(const Member& member, std::int64_t now_ns) {
  for (SupervisedProcess& process : started_) {
    std::erase(process.members, member.pid);
    if (process.role() == member.otherwise) process.trace.has_matched_descendants = true;
    if (process.role() != member.role) continue;
    add_member(process, member.pid);
    process.trace.has_several_processes = true;
  }
  if (!matched().contains(member.pid)) return;
  RoleTrace& trace = matched_trace(member.role, now_ns);
  trace.has_several_processes = of_role(member.role).size() > 1;
  joined_(member.role, member.pid);
}

RoleTrace* TrialProcesses::trace_of(pid_t pid) {
  if (const auto role = matched().find(pid); role != matched().end())
    return find(role->second) == nullptr ? &matched_traces_[role->second] : nullptr;
  const auto has_it = [pid](const SupervisedProcess& process) {
    return std::ranges::find(process.members, pid) != process.members.end();
  };
  const auto found = std::ranges::find_if(started_, has_it);
  return found == started_.end() ? nullptr : &found->trace;
}

void TrialProcesses::reaped(pid_t pid, std::int64_t max_rss_bytes) {
  RoleTrace* trace = trace_of(pid);
  // A process in which the kernel counts children that are another role's.
  if (trace == nullptr || trace->has_matched_descendants) return;
  trace->reaped_max_rss_bytes = std::max(trace->reaped_max_rss_bytes.value_or(0), max_rss_bytes);
}

bool TrialProcesses::has_living(SupervisedProcess& process, std::int64_t now_ns) {
  std::erase_if(process.members, is_gone);
  if (!process.members.empty()) return true;
  due_ns_ = 0;
  look(now_ns);
  std::erase_if(process.members, is_gone);
  return !process.members.empty();
}

}  // namespace memduel
