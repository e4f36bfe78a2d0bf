#include "experiment/trial/supervision.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "experiment/marks/monotonic.h"
#include "experiment/marks/seconds.h"
#include "experiment/trial/event_wait.h"
#include "experiment/trial/ports.h"
#include "experiment/trial/trial_name.h"

namespace memduel {
namespace {

constexpr std::int64_t kReadinessInterval = kSecondNs / 100;
/// An upper bound on how long a request to stop goes unnoticed.
constexpr std::int64_t kLongestWait = kSecondNs / 10;
/// When PSS is first read between rounds.
constexpr std::int64_t kFirstSweepAfter = kSecondNs;

/// A sampler that preempts a worker each 2 ms costs it its cache and its place: rounds took 6 %
/// longer (bench/harness). As a batch task it waits for the next switch; what it starts does not
/// inherit that. Where it may not, sampling goes on as it is.
void sample_without_preempting() {
  const sched_param parameters{};
  if (sched_getscheduler(0) == SCHED_OTHER)
    sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &parameters);
}

}  // namespace

Supervision::Supervision(const TrialPlan& plan, const SupervisorOptions& options)
    : plan_(plan),
      options_(options),
      meters_(plan),
      begin_ns_(monotonic_ns()),
      oom_kills_before_(oom_kills_anywhere()),
      members_(plan.match),
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      sweep_due_ns_(begin_ns_ + kFirstSweepAfter) {
  for (const ProcessSpec& spec : plan.processes) processes_.emplace_back(spec, plan);
  text_marks_.emplace(text_marks_of(plan));
  outcome_.trace.reference = plan.reference;
}

TrialRun Supervision::run() {
  sample_without_preempting();
  LauncherClient launcher(options_.launcher, unique_trial_name(plan_.id));
  launcher_ = &launcher;
  watch(launcher.descriptor(), nullptr);
  watch_logs(EPOLL_CTL_ADD);
  while (!over()) step();
  take_marked_lines(text_marks_->finish());
  end_trial();
  throw_if_stopped();
  verify_allocators();
  check_ports();
  outcome_.begin_ns = begin_ns_;
  outcome_.end_ns = monotonic_ns();
  outcome_.harness_cpu_seconds += meters_.cpu_seconds();
  outcome_.trace.cgroup_parts = cgroup_peak_.parts();
  outcome_.matched = members_.matched();
  for (auto& [role, trace] : matched_) outcome_.matched_traces.push_back(std::move(trace));
  TrialRun result = make_result(plan_, outcome_, processes_, meters_);
  for (Note& note : text_marks_->limitations()) result.limitations.push_back(std::move(note));
  for (Note& note : text_marks_->warnings()) result.warnings.push_back(std::move(note));
  return result;
}

void Supervision::step() {
  start_what_can_start();
  wait_for_events(std::min(next_due(), monotonic_ns() + kLongestWait));
  const std::int64_t now = monotonic_ns();
  read_text_marks(now);
  check_readiness(now);
  // A process whose report has not come yet would be taken for a descendant.
  if (!is_starting()) find_members(now);
  watch_allocators(now);
  check_daemons();
  meters_.sample(now);
  if (!plan_.meters.empty()) cgroup_peak_.sample(now, launcher_->cgroup());
  sweep_between_rounds(now);
  limit_logs(now);
  check_deadlines(now);
  stop_after_last_round();
  check_launcher(now);
}

bool Supervision::over() const {
  return outcome_.failed() || stop_asked() ||
         std::all_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process.state == State::ended; });
}

bool Supervision::is_starting() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process.state == State::starting; });
}

bool Supervision::stop_asked() const {
  if (options_.stop == nullptr) return false;
  return plan_.ignores_stop ? options_.stop->asked_for_haste() : options_.stop->asked();
}

void Supervision::watch(int descriptor, SupervisedProcess* process) const {
  epoll_event event{EPOLLIN, {.ptr = process}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

std::int64_t Supervision::next_due() const {
  std::int64_t due = std::min(meters_.due_ns(), text_marks_->due_ns());
  for (const SupervisedProcess& process : processes_) {
    const bool awaited = process.state == State::running && !process.is_ready;
    if (awaited) due = std::min(due, readiness_due_ns_);
  }
  return due;
}

void Supervision::wait_for_events(std::int64_t until_ns) {
  std::array<epoll_event, 16> events{};
  const int count = wait_for_events_until(poll_.get(), events, until_ns);
  for (int at = 0; at < count; ++at) {
    void* source = events[static_cast<std::size_t>(at)].data.ptr;
    if (source == &text_marks_) {
      text_marks_->changed();
    } else if (source != nullptr) {
      take_marks(*static_cast<SupervisedProcess*>(source));
    } else {
      take_report(launcher_->report());
    }
  }
}

SupervisedProcess* Supervision::find(const std::string& role) {
  const auto found =
      std::find_if(processes_.begin(), processes_.end(),
                   [&](const SupervisedProcess& process) { return process.role() == role; });
  return found == processes_.end() ? nullptr : &*found;
}

/// A server whose port is taken would fail with words of its own, or wait for it.
std::optional<std::string> Supervision::holder_of_port(const SupervisedProcess& process) {
  const auto& ready = process.spec().ready;
  if (!ready || !ready->port) return std::nullopt;
  const auto holder = listener_on(*ready->port);
  if (!holder) return std::nullopt;
  return fmt::format(
      "cannot listen on port {}: {} listens on it already\n  {{port:NAME}} is a free port in "
      "every trial, in arguments, env and templates",
      *ready->port, *holder);
}

void Supervision::start_what_can_start() {
  for (SupervisedProcess& process : processes_) {
    const auto& after = process.spec().after;
    const bool can_start = process.state == State::waiting &&
                           std::all_of(after.begin(), after.end(),
                                       [&](const auto& role) { return named(role).is_ready; });
    if (!can_start) continue;
    if (const auto holder = holder_of_port(process)) {
      fail(process, *holder);
      return;
    }
    process.state = State::starting;
    const int error = launcher_->request(process.spawn_request(), process.spawn_descriptors());
    process.release_descriptors();
    if (error != 0) {
      fail(process, fmt::format("cannot be started: {}", std::strerror(error)));
      return;
    }
  }
}

void Supervision::check_readiness(std::int64_t now) {
  if (now < readiness_due_ns_) return;
  readiness_due_ns_ = now + kReadinessInterval;
  for (SupervisedProcess& process : processes_) {
    if (process.state != State::running || process.is_ready) continue;
    if (process.readiness->met(now, process.members)) {
      process.is_ready = true;
      process.trace.ready_ns = now;
      process.trace.ready_rss_bytes = resident_bytes(process.members);
    } else if (static_cast<double>(now - process.started_ns) >
               seconds_as_ns(process.spec().ready->within_seconds)) {
      fail(process,
           fmt::format("was not ready within {} s; waited for {}",
                       process.spec().ready->within_seconds, process.readiness->describe()));
    }
  }
}

}  // namespace memduel
