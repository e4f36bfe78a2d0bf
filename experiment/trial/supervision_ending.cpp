// How a trial ends: its deadline, stopping what has nobody to wait for, and what is left to look
// at.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/text.h"
#include "experiment/marks/monotonic.h"
#include "experiment/marks/seconds.h"
#include "experiment/trial/ports.h"
#include "experiment/trial/supervision.h"

namespace memduel {
namespace {

// Of a last round that only the next one's begin would end: times the longest before it.
constexpr std::int64_t kLastRoundFactor = 2;
constexpr std::int64_t kShortestLastRound = kSecondNs / 2;

}  // namespace

void Supervision::check_deadlines(std::int64_t now) {
  if (static_cast<double>(now - begin_ns_) > seconds_as_ns(plan_.deadline_seconds)) {
    std::vector<std::string> running;
    for (const auto& process : processes_) {
      if (process.state != State::ended) running.push_back(process.role());
    }
    outcome_.fail(fmt::format("the trial did not end within {} s; still there: {}{}",
                              plan_.deadline_seconds, fmt::join(running, ", "), never_ends()));
    for (const auto& process : processes_) {
      if (process.state != State::running) continue;
      const auto silent = process.silent_seconds();
      const std::string since =
          silent ? ", silent for " + format_seconds(*silent) : ", which never wrote a word";
      outcome_.failure += fmt::format("\n{}{}:{}", process.role(), since, process.last_words());
    }
  }
  if (stopping_since_ns_ != 0 && !grace_is_over_ &&
      static_cast<double>(now - stopping_since_ns_) > seconds_as_ns(plan_.stop_grace_seconds)) {
    grace_is_over_ = true;
    signal_running(SIGKILL);
  }
}

/// What to do about a process that has nobody left to work for.
std::string Supervision::never_ends() const {
  std::vector<std::string> waited_for;
  bool any_ended = false;
  for (const auto& process : processes_) {
    any_ended = any_ended || process.state == State::ended;
    if (process.state == State::running && process.spec().end == End::wait)
      waited_for.push_back(process.role());
  }
  if (!any_ended || waited_for.empty()) return {};
  return fmt::format("\n  the others have ended; \"end\": \"stop\" ends {} with them",
                     fmt::join(waited_for, ", "));
}

void Supervision::stop_others_when_due() {
  const bool all_waited_for =
      std::all_of(processes_.begin(), processes_.end(), [](const auto& process) {
        return process.spec().end == End::stop || process.state == State::ended;
      });
  if (all_waited_for) begin_stopping();
}

/// With text marks a role may only tell where rounds begin: the next one's begin ends them, and the
/// last one is over when it took twice as long as any before.
void Supervision::stop_after_last_round() {
  if (!plan_.stop_after_round || stopping_since_ns_ != 0) return;
  const int last = *plan_.stop_after_round;
  const std::int64_t now = monotonic_ns();
  bool marked = false;
  bool all_done = true;
  const auto look_at = [&](RoleTrace& trace, bool ended) {
    if (trace.last_round_begun == 0) return;
    marked = true;
    const bool without_end = trace.last_round_begun == last && trace.last_round_ended < last &&
                             !trace.marks_round_ends && trace.longest_round_ns > 0;
    const std::int64_t enough =
        std::max(kLastRoundFactor * trace.longest_round_ns, kShortestLastRound);
    if (without_end && !ended && now - trace.last_round_begun_ns > enough) {
      trace.last_round_ended = last;
      trace.last_round_ended_by_time = true;
    }
    all_done = all_done && (ended || trace.last_round_ended >= last);
  };
  for (SupervisedProcess& process : processes_)
    look_at(process.trace, process.state == State::ended);
  for (auto& [role, trace] : matched_) look_at(trace, false);
  if (!marked || !all_done) return;
  stopped_after_round_ = true;
  begin_stopping();
}

void Supervision::begin_stopping() {
  if (stopping_since_ns_ != 0) return;
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
  if (process.is_daemon) {
    for (const pid_t pid : process.members) kill(pid, number);
    return;
  }
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

/// A launcher that is stopped tells of no end and hears of none.
void Supervision::check_launcher(std::int64_t now) {
  if (now < launcher_due_ns_) return;
  launcher_due_ns_ = now + kSecondNs;
  if (!launcher_->is_stopped()) {
    launcher_stopped_ns_ = 0;
    return;
  }
  if (launcher_stopped_ns_ == 0) launcher_stopped_ns_ = now;
  if (static_cast<double>(now - launcher_stopped_ns_) > seconds_as_ns(plan_.stop_grace_seconds))
    launcher_->kill_launcher();
}

/// Everything of the trial is gone: who still listens is not of it.
void Supervision::check_ports() {
  for (const auto& [name, port] : plan_.ports) {
    const auto holder = listener_on(port);
    if (!holder) continue;
    outcome_.warnings.push_back(
        {"port_still_held",
         fmt::format("after the trial {} still listens on the port that was {{port:{}}}", *holder,
                     name),
         "something outside the trial may have answered in its place"});
  }
}

void Supervision::limit_logs(std::int64_t now) {
  constexpr std::int64_t kLogsInterval = kSecondNs / 20;
  if (now < logs_due_ns_) return;
  logs_due_ns_ = now + kLogsInterval;
  for (SupervisedProcess& process : processes_) process.limit_logs();
}

void Supervision::throw_if_stopped() const {
  if (!stop_asked()) return;
  throw options_.stop->error("stopped by a signal");
}

}  // namespace memduel
