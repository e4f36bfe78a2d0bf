#include "experiment/supervision/starting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "base/text.h"
#include "base/why_not_run.h"
#include "experiment/marks/monotonic.h"
#include "experiment/marks/seconds.h"
#include "experiment/trial/launcher/protocol.h"
#include "experiment/trial/ports.h"
#include "experiment/trial/role_memory.h"

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
      unstarted.step == "executing the program" && program.find('/') != std::string::npos
          ? why_not_run(spec.cwd / program, unstarted.error)
          : std::strerror(unstarted.error);
  outcome_.fail_of(process, fmt::format("could not be started: {} ({}) failed: {}", unstarted.step,
                                        shortened(what), why));
}

}  // namespace memduel
