#include "process_lifecycle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "launcher/protocol.h"
#include "trial/processes.h"
#include "trial/sampling.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

using State = SupervisedProcess::State;

constexpr std::int64_t kReadinessInterval = kSecondNs / 100;

/// A command line may have as many bytes as the system allows.
std::string shortened(const std::string& command) {
  constexpr std::size_t kMost = 300;
  if (command.size() <= kMost) return command;
  return valid_utf8(command.substr(0, kMost)) + fmt::format("… ({} bytes)", command.size());
}

/// A server whose port is taken would fail with words of its own, or wait for it.
std::optional<std::string> holder_of_port(const SupervisedProcess& process) {
  const auto& ready = process.spec().ready;
  if (!ready || !ready->port) return std::nullopt;
  const auto holder = listener_on(*ready->port);
  if (!holder) return std::nullopt;
  return fmt::format(
      "cannot listen on port {}: {} listens on it already\n  {{port:NAME}} is a free port in "
      "every trial, in arguments, env and templates",
      *ready->port, *holder);
}

}  // namespace

Starting::Starting(TrialProcesses& processes, LauncherClient& launcher, TrialOutcome& outcome)
    : processes_(processes), launcher_(launcher), outcome_(outcome) {}

void Starting::start_what_can_start() {
  for (SupervisedProcess& process : processes_.started()) {
    const bool can_start = process.state == State::waiting &&
                           std::ranges::all_of(process.spec().after, [&](const auto& role) {
                             return processes_.named(role).is_ready;
                           });
    if (!can_start) continue;
    if (const auto holder = holder_of_port(process)) return outcome_.fail_of(process, *holder);
    process.state = State::starting;
    const int error = launcher_.request(process.spawn_request(), process.spawn_descriptors());
    process.release_descriptors();
    if (error != 0) {
      outcome_.fail_of(process, fmt::format("cannot be started: {}", std::strerror(error)));
      return;
    }
  }
}

void Starting::check_readiness(std::int64_t now_ns) {
  if (now_ns < due_ns_) return;
  due_ns_ = now_ns + kReadinessInterval;
  for (SupervisedProcess& process : processes_.started()) {
    if (process.state != State::running || process.is_ready) continue;
    const double limit = process.spec().ready->within_seconds;
    if (process.readiness->met(now_ns, process.members)) {
      process.is_ready = true;
      process.trace.ready_ns = now_ns;
      process.trace.ready_rss_bytes = resident_bytes(process.members);
    } else if (static_cast<double>(now_ns - process.started_ns) > seconds_as_ns(limit)) {
      outcome_.fail_of(process, fmt::format("was not ready within {} s; waited for {}", limit,
                                            process.readiness->describe()));
    }
  }
}

std::int64_t Starting::due_ns() const {
  const bool any_awaited =
      std::ranges::any_of(processes_.started(), [](const SupervisedProcess& process) {
        return process.state == State::running && !process.is_ready;
      });
  return any_awaited ? due_ns_ : INT64_MAX;
}

SupervisedProcess& Starting::take(const Spawned& spawned) {
  SupervisedProcess& process = processes_.named(spawned.role);
  process.state = State::running;
  process.started_ns = spawned.begin_ns;
  process.trace.begin_ns = spawned.begin_ns;
  process.is_ready = !process.readiness;
  processes_.runs_as(process, spawned.pid);
  return process;
}

void Starting::take(const Unstarted& unstarted) {
  SupervisedProcess& process = processes_.named(unstarted.role);
  process.state = State::ended;
  const ProcessSpec& spec = process.spec();
  const bool by_directory = unstarted.step == kEnteringDirectory;
  const std::string what =
      by_directory ? spec.cwd.string() : fmt::format("{}", fmt::join(spec.argv, " "));
  const std::string& program = spec.argv.front();
  const std::string why =
      unstarted.step == kExecutingProgram && program.find('/') != std::string::npos
          ? why_not_run(spec.cwd / program, unstarted.error)
          : std::strerror(unstarted.error);
  outcome_.fail_of(process, fmt::format("could not be started: {} ({}) failed: {}", unstarted.step,
                                        shortened(what), why));
}

namespace {

/// Helpers of a program that ends, as Python's resource tracker, may outlive it so long.
constexpr std::int64_t kLingering = kSecondNs / 2;

}  // namespace

bool Daemons::take_over(SupervisedProcess& process, const ExitRecord& record) {
  const bool expected_to_go_on = process.spec().end == End::stop || !process.is_ready;
  if (record.status != 0 || !expected_to_go_on || process.asked_to_stop) return false;
  process.is_daemon = processes_.has_living(process, record.t_ns);
  process.trace.outlived_its_process = process.is_daemon;
  if (process.is_daemon) process.trace.exit = record;
  return process.is_daemon;
}

std::vector<std::pair<SupervisedProcess*, ExitRecord>> Daemons::ended(std::int64_t now_ns) {
  std::vector<std::pair<SupervisedProcess*, ExitRecord>> gone;
  for (SupervisedProcess& process : processes_.started()) {
    if (!process.is_daemon || process.state != SupervisedProcess::State::running) continue;
    if (processes_.has_living(process, now_ns)) continue;
    ExitRecord record = *process.trace.exit;
    if (now_ns - record.t_ns < kLingering) {
      process.is_daemon = false;
      process.trace.outlived_its_process = false;
    }
    record.t_ns = now_ns;
    gone.emplace_back(&process, record);
  }
  return gone;
}

namespace {

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

bool terminate_slurm_step(const std::string& name) {
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr) return false;
  HelperOptions options;
  options.stop = nullptr;  // which may be why it is to end
  try {
    std::istringstream steps(
        capture({"squeue", "--steps", "--noheader", std::string("--jobs=") + job, "--format=%i|%j"},
                options)
            .out);
    for (std::string line; std::getline(steps, line);) {
      const std::size_t bar = line.find('|');
      if (bar == std::string::npos || line.substr(bar + 1) != name) continue;
      capture({"scancel", "--signal=TERM", line.substr(0, bar)}, options);
      return true;
    }
  } catch (const Error&) {
    return false;
  }
  return false;
}

}  // namespace memduel
