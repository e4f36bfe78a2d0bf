// Roles that put themselves into the background: their process ends at once, and another goes on.
#include <algorithm>

#include "experiment/marks/monotonic.h"
#include "experiment/trial/launcher/process_tree.h"
#include "experiment/trial/supervision.h"

namespace memduel {
namespace {

/// Helpers of a program that ends, as Python's resource tracker, may outlive it so long.
constexpr std::int64_t kLingering = kSecondNs / 2;

bool is_alive(pid_t pid) {
  const auto line = process_line(pid);
  return line && line->state != 'Z' && line->state != 'X';
}

}  // namespace

/// Whether a process that was expected to go on has ended well and left living descendants: then
/// they are the role from now on.
bool Supervision::goes_on_as_daemon(SupervisedProcess& process, const ExitRecord& record) {
  const bool expected_to_go_on = process.spec().end == End::stop || !process.is_ready;
  if (record.status != 0 || !expected_to_go_on || process.asked_to_stop || outcome_.failed()) {
    return false;
  }
  process.is_daemon = has_living_members(process);
  process.trace.outlived_its_process = process.is_daemon;
  if (process.is_daemon) process.trace.exit = record;
  return process.is_daemon;
}

/// Looks again before it says no: one that forked twice left a process that was not seen yet.
bool Supervision::has_living_members(SupervisedProcess& process) {
  std::erase_if(process.members, [](pid_t pid) { return !is_alive(pid); });
  if (!process.members.empty()) return true;
  members_due_ns_ = 0;
  find_members(monotonic_ns());
  std::erase_if(process.members, [](pid_t pid) { return !is_alive(pid); });
  return !process.members.empty();
}

/// The launcher reports the ends of roles' own processes only.
void Supervision::check_daemons() {
  for (SupervisedProcess& process : processes_) {
    if (!process.is_daemon || process.state != State::running) continue;
    if (has_living_members(process)) continue;
    ExitRecord record = *process.trace.exit;
    const std::int64_t now = monotonic_ns();
    if (now - record.t_ns < kLingering) {
      process.is_daemon = false;
      process.trace.outlived_its_process = false;
    }
    record.t_ns = now;
    end_process(process, record);
  }
}

}  // namespace memduel
