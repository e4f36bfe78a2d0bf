#include <sys/epoll.h>

#include <algorithm>

#include "experiment/marks/monotonic.h"
#include "experiment/metrics/pss_metrics.h"
#include "experiment/trial/launcher/process_tree.h"
#include "experiment/trial/supervision.h"

namespace memduel {

namespace {

/// The list of a control group costs 20 us; without one all of /proc has to be read. A worker that
/// lives for 30 ms may make a job's peak, so the list is read sooner where processes were made.
constexpr std::int64_t kMembersInterval = kSecondNs / 10;
constexpr std::int64_t kNewMembersInterval = kSecondNs / 50;
/// A new process may be found before it executes the program whose arguments match a role, and that
/// may have its memory after ten milliseconds: it is looked at often, for so long.
constexpr std::int64_t kMatchesInterval = kSecondNs / 200;
constexpr std::int64_t kUntilExecuted = kSecondNs / 5;
constexpr std::int64_t kMembersIntervalWithoutGroup = kSecondNs * 5 / 4;
/// Of PSS between rounds, where its share of the time allows so many readings.
constexpr std::int64_t kSweepInterval = kSecondNs;

}  // namespace

void Supervision::add_member(SupervisedProcess& process, pid_t pid) {
  // A role's own process may be found before the launcher's report of it is read.
  const auto& members = process.members;
  if (std::find(members.begin(), members.end(), pid) != members.end()) return;
  process.members.push_back(pid);
  meters_.add(process.role(), pid);
}

void Supervision::find_members(std::int64_t now) {
  if (launcher_lost_) return;
  const TrialCgroup& group = launcher_->cgroup();
  const bool soon = group.exists() && now >= new_members_due_ns_ &&
                    (last_pid_.moved() || now < matches_until_ns_);
  if (now < members_due_ns_ && !soon) return;
  members_due_ns_ = now + (group.exists() ? kMembersInterval : kMembersIntervalWithoutGroup);
  const auto found =
      group.exists() ? processes_in(group) : descendants_of(launcher_->pid(), all_processes());
  const std::vector<Member> changed = members_.update(found);
  if (!changed.empty() && !plan_.match.empty()) matches_until_ns_ = now + kUntilExecuted;
  new_members_due_ns_ = now + (now < matches_until_ns_ ? kMatchesInterval : kNewMembersInterval);
  for (const Member& member : changed) {
    for (SupervisedProcess& process : processes_) {
      std::erase(process.members, member.pid);
      if (process.role() == member.otherwise) process.trace.has_matched_descendants = true;
      if (process.role() != member.role) continue;
      add_member(process, member.pid);
      process.trace.has_several_processes = true;
    }
    if (members_.matched().contains(member.pid)) add_matched(member, now);
  }
}

/// A role that no process was started as begins with the first descendant that matches, or with
/// its first mark.
RoleTrace& Supervision::matched_trace(const std::string& role, std::int64_t now) {
  RoleTrace& trace = matched_[role];
  if (trace.role.empty()) {
    trace.role = role;
    trace.begin_ns = now;
    trace.rss.metric = "rss_bytes";
    trace.of_descendants = true;
    trace.ended_well = true;
  }
  return trace;
}

void Supervision::add_matched(const Member& member, std::int64_t now) {
  matched_trace(member.role, now);
  meters_.add(member.role, member.pid);
}

const SupervisedProcess& Supervision::reference() const {
  const auto named = std::find_if(processes_.begin(), processes_.end(), [&](const auto& process) {
    return process.role() == plan_.reference;
  });
  return named == processes_.end() ? processes_.front() : *named;
}

void Supervision::take_marks(SupervisedProcess& process) {
  const std::int64_t now = monotonic_ns();
  for (Mark& mark : process.marks.receive_marks()) {
    if (mark.kind == Mark::Kind::start) {
      process.trace.peaks_reset = !mark.no_reset;
      continue;
    }
    // A program whose clock is not the machine's (libfaketime): its marks are of when they came.
    constexpr std::int64_t kSlack = kSecondNs / 20;
    if (mark.t_ns < begin_ns_ - kSlack || mark.t_ns > now + kSlack) {
      process.has_other_clock = true;
      mark.t_ns = now;
    }
    MarkEvent event{std::move(mark), {}};
    note_round(process, event);
    process.trace.marks.push_back(event);
    lend_round(process, event.mark);
  }
  if (process.marks.closed()) {
    epoll_ctl(poll_.get(), EPOLL_CTL_DEL, process.marks.descriptor(), nullptr);
  }
}

void Supervision::note_round(SupervisedProcess& process, MarkEvent& event) {
  const auto kind = event.mark.kind;
  if (kind != Mark::Kind::idle && kind != Mark::Kind::round_begin &&
      kind != Mark::Kind::round_end) {
    return;
  }
  if (options_.rest_in_even_rounds && &process == &reference() && kind == Mark::Kind::round_begin)
    meters_.rest(event.mark.round % 2 == 0);
  event.reading = meters_.read(process.role());
  if (kind == Mark::Kind::round_begin) process.running_round = event.mark.round;
  if (kind == Mark::Kind::round_end) {
    process.running_round.reset();
    sweep_at_round_end(process, event.mark.round);
  }
  count_round(process.trace, event.mark);
}

/// The roles that say nothing of rounds are read when the reference role begins or ends one.
void Supervision::lend_round(const SupervisedProcess& from, const Mark& mark) {
  const bool bounds = mark.kind == Mark::Kind::round_begin || mark.kind == Mark::Kind::round_end;
  if (!bounds || &from != &reference()) return;
  for (SupervisedProcess& process : processes_) {
    const bool takes = process.spec().takes_rounds && process.state == State::running &&
                       process.marks.marking_pid == 0 && &process != &from;
    if (!takes) continue;
    RoleMemory& memory = role_memory_[process.role()];
    MarkEvent event{mark, {}};
    event.mark.sizes = memory.read(process.members);
    event.mark.t_ns = monotonic_ns();
    process.trace.peaks_reset = process.trace.peaks_reset && memory.peaks_reset();
    process.trace.has_lent_rounds = true;
    note_round(process, event);
    process.trace.marks.push_back(std::move(event));
  }
}

void Supervision::count_round(RoleTrace& trace, const Mark& mark) {
  if (mark.kind == Mark::Kind::round_begin) {
    const std::int64_t now = monotonic_ns();
    if (trace.last_round_begun_ns != 0)
      trace.longest_round_ns = std::max(trace.longest_round_ns, now - trace.last_round_begun_ns);
    trace.last_round_begun_ns = now;
    trace.last_round_begun = std::max(trace.last_round_begun, mark.round);
    trace.last_round_ended = std::max(trace.last_round_ended, mark.round - 1);
  } else if (mark.kind == Mark::Kind::round_end) {
    trace.marks_round_ends = true;
    trace.last_round_ended = std::max(trace.last_round_ended, mark.round);
  }
  stop_after_last_round();
}

/// A trial without marks has no round ends to read PSS at, and those of commands may be far apart.
void Supervision::sweep_between_rounds(std::int64_t now) {
  const bool at_round_ends_only = reference().marks.marking_pid != 0 && !plan_.pss_between_rounds;
  if (at_round_ends_only || now < sweep_due_ns_) return;
  sweep_due_ns_ = now + kSweepInterval;
  sweep_all(TrialMeters::Need::if_affordable);
}

/// PSS is read of each role at the end of its last round, and once then of all together, while
/// they are all still there, which does for the roles that end right after; at earlier round ends
/// of the reference role as its share allows.
void Supervision::sweep_at_round_end(const SupervisedProcess& process, int round) {
  if (plan_.rounds != round) {
    if (&process == &reference()) sweep_all(TrialMeters::Need::if_affordable);
  } else if (!last_round_swept_ns_) {
    last_round_swept_ns_ = monotonic_ns();
    sweep_all(TrialMeters::Need::must);
  } else if (monotonic_ns() - *last_round_swept_ns_ > kNearEndNs) {
    meters_.sweep({process.role()}, processes_.size() == 1, TrialMeters::Need::must);
  }
}

void Supervision::sweep_all(TrialMeters::Need need) {
  std::vector<std::string> running;
  for (const SupervisedProcess& process : processes_) {
    if (process.state == State::running) running.push_back(process.role());
  }
  const bool all_roles = running.size() == processes_.size();
  for (const auto& [role, trace] : matched_) running.push_back(role);
  meters_.sweep(running, all_roles, need);
}

}  // namespace memduel
