#include "trial_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "launcher/protocol.h"
#include "memduel/annotate.h"
#include "profile/recording.h"
#include "trial/processes.h"
#include "trial_failure.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {

bool LastPid::moved() {
  const auto now = file_.read(parse_last_pid);
  return now && std::exchange(last_, *now) != *now;
}

namespace {

Descriptor make_log(const std::filesystem::path& path) {
  // Appending, because a program may open /dev/stderr a second time.
  Descriptor log(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!log) throw Error(ExitCode::io, std::strerror(errno), path.string());
  return log;
}

/// The trial's log of that stream; empty where the process keeps its own.
std::filesystem::path log_of(const ProcessSpec& spec, const TrialPlan& plan, const char* stream) {
  return plan.log_dir.empty() ? std::filesystem::path() : logs_of(plan).file(spec.role, stream);
}

/// Also for processes of other users, which a job may start.
void make_witness_file(const std::filesystem::path& path) {
  make_directory(path.parent_path());
  const Descriptor file = make_log(path);
  fchmod(file.get(), 0666);
}

}  // namespace

SupervisedProcess::SupervisedProcess(const ProcessSpec& spec, const TrialPlan& plan)
    : spec_(&spec),
      cwd_(spec.cwd.empty() ? plan.trial_dir : spec.cwd),
      stdout_path_(log_of(spec, plan, "stdout")),
      stderr_path_(log_of(spec, plan, "stderr")) {
  if (!cwd_.empty()) cwd_ = std::filesystem::absolute(cwd_);
  if (!stdout_path_.empty()) {
    stdout_ = make_log(stdout_path_);
    stderr_ = make_log(stderr_path_);
  }
  trace.role = spec.role;
  for (const auto& directory : {spec.heap_dir, spec.trace_dir}) {
    if (!directory) continue;
    make_directory(*directory);
    admit_other_users(*directory);
  }
  if (spec.allocator) make_witness_file(spec.allocator->witness);
  if (spec.ready) readiness.emplace(*spec.ready, std::vector{stdout_path_, stderr_path_});
}

std::vector<std::string> SupervisedProcess::marks_environment() const {
  return {fmt::format("{}={}", MEMDUEL_WIRE_FD, kMarksDescriptor),
          fmt::format("{}={}", MEMDUEL_WIRE_INODE, marks.inode())};
}

std::vector<std::string> SupervisedProcess::spawn_request() const {
  SpawnRequest request{role(), cwd_.string(), spec_->argv, {}};
  for (const auto& [name, value] : spec_->env) request.environment.push_back(name + "=" + value);
  request.environment.push_back(fmt::format("{}={}", kRoleVariable, role()));
  for (std::string& variable : marks_environment())
    request.environment.push_back(std::move(variable));
  return fields_of(std::move(request));
}

std::vector<int> SupervisedProcess::spawn_descriptors() {
  return {stdout_.get(), stderr_.get(), marks.remote().get()};
}

void SupervisedProcess::release_descriptors() {
  stdout_.reset();
  stderr_.reset();
  marks.remote().reset();
}

std::optional<double> SupervisedProcess::silent_seconds() const {
  std::optional<std::filesystem::file_time_type> last;
  for (const std::filesystem::path& log : {stdout_path_, stderr_path_}) {
    std::error_code error;
    if (std::filesystem::file_size(log, error) == 0 || error) continue;
    const auto written = std::filesystem::last_write_time(log, error);
    if (!error) last = std::max(last.value_or(written), written);
  }
  if (!last) return std::nullopt;
  const std::chrono::duration<double> silence =
      std::filesystem::file_time_type::clock::now() - *last;
  return std::max(0.0, silence.count());
}

std::string SupervisedProcess::last_words() const {
  std::string words = log_tail(stderr_path_);
  if (words.empty()) words = log_tail(stdout_path_);
  std::string indented;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find('\n', at), words.size());
    indented += "\n  | " + words.substr(at, end - at);
    at = end + 1;
  }
  return indented;
}

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
                               RoleMembers::OriginOf origin_of)
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

const std::string& TrialProcesses::reference() const {
  return plan_.reference.empty() ? started_.front().role() : plan_.reference;
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
  const bool is_asked_for = due_ns_ == 0;
  const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const auto found = living_();
  if (!found) return;
  const std::int64_t rest = kRestPerLook * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before);
  due_ns_ = now_ns + std::max(kInterval, rest);
  const std::vector<Member> changed = members_.update(*found, now_ns, is_asked_for);
  if (!changed.empty() && !plan_.match.empty()) matches_until_ns_ = now_ns + kUntilExecuted;
  new_ones_due_ns_ =
      now_ns + std::max(now_ns < matches_until_ns_ ? kMatchesInterval : kNewOnesInterval, rest);
  for (const Member& member : changed) take(member, now_ns);
}

void TrialProcesses::renew(std::int64_t now_ns) {
  const auto found = living_();
  if (!found) return;
  for (const Member& member : members_.update(*found, now_ns, true)) take(member, now_ns);
  const std::set<pid_t> living(found->begin(), found->end());
  for (SupervisedProcess& process : started_)
    std::erase_if(process.members, [&](pid_t pid) { return !living.contains(pid); });
}

void TrialProcesses::look_for(const std::string& role, std::int64_t now_ns) {
  if (!is_matched_role(plan_, role) || !of_role(role).empty()) return;
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
  if (is_matched_role(plan_, member.otherwise) && member.otherwise != member.role)
    matched_trace(member.otherwise, now_ns).has_matched_descendants = true;
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
  // Of a daemon that forks twice, a look may find the process in the middle, which then ends.
  constexpr int kMostLooks = 100;
  for (int looks = 0; looks <= kMostLooks; ++looks) {
    std::erase_if(process.members, is_gone);
    if (!process.members.empty()) return true;
    due_ns_ = 0;
    look(now_ns);
    if (process.members.empty()) return false;
  }
  return false;
}

}  // namespace memduel
