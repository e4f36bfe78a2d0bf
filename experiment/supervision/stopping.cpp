#include "experiment/supervision/stopping.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "experiment/marks/monotonic.h"
#include "experiment/marks/seconds.h"

namespace memduel {
namespace {

using State = SupervisedProcess::State;

// Of a last round that only the next one's begin would end: times the longest before it.
constexpr std::int64_t kLastRoundFactor = 2;
constexpr std::int64_t kShortestLastRound = kSecondNs / 2;

/// Takes a last round that no mark ends to be over where it has gone on for long enough.
void end_by_time(RoleTrace& trace, int last, std::int64_t now_ns) {
  const bool without_end = trace.last_round_begun == last && trace.last_round_ended < last &&
                           !trace.marks_round_ends && trace.longest_round_ns > 0;
  const std::int64_t enough =
      std::max(kLastRoundFactor * trace.longest_round_ns, kShortestLastRound);
  if (!without_end || now_ns - trace.last_round_begun_ns <= enough) return;
  trace.last_round_ended = last;
  trace.last_round_ended_by_time = true;
}

}  // namespace

Stopping::Stopping(const TrialPlan& plan, TrialProcesses& processes, Signal signal)
    : plan_(plan), processes_(processes), signal_(std::move(signal)) {}

void Stopping::once_waited_for(std::int64_t now_ns) {
  const bool all_waited_for = std::ranges::all_of(
      std::as_const(processes_).started(), [](const SupervisedProcess& process) {
        return process.spec().end == End::stop || process.state == State::ended;
      });
  if (all_waited_for) begin(now_ns);
}

void Stopping::after_last_round(std::int64_t now_ns) {
  if (!plan_.stop_after_round || since_ns_ != 0) return;
  const int last = *plan_.stop_after_round;
  bool marked = false;
  bool all_done = true;
  const auto look_at = [&](RoleTrace& trace, bool ended) {
    if (trace.last_round_begun == 0) return;
    marked = true;
    if (!ended) end_by_time(trace, last, now_ns);
    all_done = all_done && (ended || trace.last_round_ended >= last);
  };
  for (SupervisedProcess& process : processes_.started())
    look_at(process.trace, process.state == State::ended);
  for (auto& [role, trace] : processes_.matched_traces()) look_at(trace, false);
  if (!marked || !all_done) return;
  after_last_round_ = true;
  begin(now_ns);
}

void Stopping::stop_if_begun(SupervisedProcess& process) {
  if (since_ns_ != 0) stop(process, SIGTERM);
}

void Stopping::check_grace(std::int64_t now_ns) {
  if (since_ns_ == 0 || grace_is_over_ ||
      static_cast<double>(now_ns - since_ns_) <= seconds_as_ns(plan_.stop_grace_seconds))
    return;
  grace_is_over_ = true;
  signal_running(SIGKILL);
}

void Stopping::begin(std::int64_t now_ns) {
  if (since_ns_ != 0) return;
  since_ns_ = now_ns;
  signal_running(SIGTERM);
}

void Stopping::signal_running(int number) {
  for (SupervisedProcess& process : processes_.started()) {
    // One that is still waiting for its turn has nothing left to do.
    if (process.state == State::waiting) process.state = State::ended;
    if (process.state != State::running) continue;
    if (number == SIGKILL) killed_.push_back(process.role());
    stop(process, number);
  }
}

void Stopping::stop(SupervisedProcess& process, int number) {
  process.asked_to_stop = true;
  signal_(process, number);
}

}  // namespace memduel
