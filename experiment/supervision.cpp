#include "experiment/supervision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "experiment/monotonic.h"

namespace memduel {
namespace {

constexpr std::int64_t kReadinessInterval = kSecondNs / 100;
/// An upper bound on how long a request to stop goes unnoticed.
constexpr std::int64_t kLongestWait = kSecondNs / 10;
/// When the first PSS is read of a trial that has sent no mark until then.
constexpr std::int64_t kUnmarkedAfter = 2 * kSecondNs;

double seconds_as_ns(double seconds) {
  return seconds * static_cast<double>(kSecondNs);
}

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
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      unmarked_sweep_due_ns_(begin_ns_ + kUnmarkedAfter) {
  for (const ProcessSpec& spec : plan.processes) processes_.emplace_back(spec, plan);
  text_marks_.emplace(plan);
}

TrialRun Supervision::run() {
  sample_without_preempting();
  LauncherClient launcher(options_.launcher, unique_trial_name(plan_.id));
  launcher_ = &launcher;
  watch(launcher.descriptor(), nullptr);
  for (SupervisedProcess& process : processes_) watch(process.marks.descriptor(), &process);
  watch_logs(EPOLL_CTL_ADD);
  while (!over()) step();
  end_trial();
  throw_if_stopped();
  outcome_.begin_ns = begin_ns_;
  outcome_.end_ns = monotonic_ns();
  outcome_.harness_cpu_seconds += meters_.cpu_seconds();
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
  find_members(now);
  meters_.sample(now);
  sweep_unmarked(now);
  check_deadlines(now);
}

bool Supervision::over() const {
  return outcome_.failed() || stop_asked() ||
         std::all_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process.state == State::ended; });
}

bool Supervision::stop_asked() const {
  return options_.stop_signal != nullptr && options_.stop_signal->load() != 0;
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
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - monotonic_ns());
  const timespec timeout{left / kSecondNs, left % kSecondNs};
  std::array<epoll_event, 16> events{};
  const int count = epoll_pwait2(poll_.get(), events.data(), events.size(), &timeout, nullptr);
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

SupervisedProcess& Supervision::named(const std::string& role) {
  return *std::find_if(processes_.begin(), processes_.end(),
                       [&](const auto& process) { return process.role() == role; });
}

void Supervision::start_what_can_start() {
  for (SupervisedProcess& process : processes_) {
    const auto& after = process.spec().after;
    const bool can_start = process.state == State::waiting &&
                           std::all_of(after.begin(), after.end(),
                                       [&](const auto& role) { return named(role).is_ready; });
    if (!can_start) continue;
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
    } else if (static_cast<double>(now - process.started_ns) >
               seconds_as_ns(process.spec().ready->within_seconds)) {
      fail(process,
           fmt::format("was not ready within {} s; waited for {}",
                       process.spec().ready->within_seconds, process.readiness->describe()));
    }
  }
}

void Supervision::check_deadlines(std::int64_t now) {
  if (static_cast<double>(now - begin_ns_) > seconds_as_ns(plan_.deadline_seconds)) {
    std::vector<std::string> running;
    for (const auto& process : processes_) {
      if (process.state != State::ended) running.push_back(process.role());
    }
    outcome_.fail(fmt::format("the trial did not end within {} s; still there: {}",
                              plan_.deadline_seconds, fmt::join(running, ", ")));
    for (const auto& process : processes_) {
      if (process.state == State::running) {
        outcome_.failure += fmt::format("\n{}:{}", process.role(), process.last_words());
      }
    }
  }
  if (stopping_since_ns_ != 0 && !grace_is_over_ &&
      static_cast<double>(now - stopping_since_ns_) > seconds_as_ns(plan_.stop_grace_seconds)) {
    grace_is_over_ = true;
    signal_running(SIGKILL);
  }
}

void Supervision::stop_others_when_due() {
  const bool all_waited_for =
      std::all_of(processes_.begin(), processes_.end(), [](const auto& process) {
        return process.spec().end == End::stop || process.state == State::ended;
      });
  if (!all_waited_for || stopping_since_ns_ != 0) return;
  stopping_since_ns_ = monotonic_ns();
  signal_running(SIGTERM);
}

void Supervision::signal_running(int number) {
  for (SupervisedProcess& process : processes_) {
    // One that is still waiting for its turn has nothing left to do.
    if (process.state == State::waiting) process.state = State::ended;
    if (process.state != State::running) continue;
    if (number == SIGKILL) outcome_.killed_after_grace.push_back(process.role());
    stop(process, number);
  }
}

void Supervision::stop(SupervisedProcess& process, int number) {
  process.asked_to_stop = true;
  launcher_->request({"signal", process.role(), std::to_string(number)});
}

void Supervision::fail(const SupervisedProcess& process, const std::string& what) {
  if (outcome_.failed()) return;
  outcome_.fail(fmt::format("{} {}{}", process.role(), what, process.last_words()));
}

/// Tells the launcher to end and takes its last reports.
void Supervision::end_trial() {
  if (launcher_lost_) return;
  launcher_->request({"end"});
  while (!launcher_ended_ && !launcher_lost_) {
    auto report = launcher_->report_within(std::chrono::seconds(30));
    take_report(report);
  }
}

void Supervision::throw_if_stopped() const {
  if (!stop_asked()) return;
  const bool terminated = options_.stop_signal->load() == SIGTERM;
  throw Error(terminated ? ExitCode::terminated : ExitCode::interrupted,
              terminated ? "terminated" : "interrupted");
}

}  // namespace memduel
