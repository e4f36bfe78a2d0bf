#include "job_loop.h"

#include <algorithm>
#include <utility>

#include "trial/processes.h"

namespace memduel {

JobLoop::JobLoop(const TrialPlan& plan, TrialMeters meters_of_plan, Options options)
    : meters(std::move(meters_of_plan)),
      processes(
          plan, std::move(options.living),
          [this](const std::string& role, pid_t pid) { meters.add(role, pid); },
          std::move(options.origin_of)),
      lines(logs_of(plan).located(plan.text_marks), options.log_poll_interval_ns),
      metering({plan, processes, meters, lines, options.rest_in_even_rounds, monotonic_ns,
                options.cgroup, options.first_sweep_after_ns}) {
  if (lines.descriptor() >= 0) events.add_once(lines.descriptor(), &lines);
}

void JobLoop::listen_to(SupervisedProcess& process) {
  events.add(process.marks.descriptor(), &process);
}

bool JobLoop::turn(std::int64_t until_ns, const std::function<void(void* source)>& take,
                   const std::function<void(std::int64_t now_ns)>& act) {
  for (void* source : events.wait_until(std::min({until_ns, meters.due_ns(), lines_due_ns()}))) {
    const auto process = std::ranges::find_if(
        processes.started(), [&](const SupervisedProcess& each) { return &each == source; });
    if (source == &lines) {
      lines.changed();
    } else if (process != processes.started().end()) {
      take_marks(*process);
    } else {
      take(source);
    }
  }
  const std::int64_t now = monotonic_ns();
  read_lines(now);
  act(now);
  return metering.sample(now);
}

/// What a line asks to be read is read of the role's processes: not before the launcher's report of
/// one that was just started, which may already have written.
std::int64_t JobLoop::lines_due_ns() const {
  return processes.any(SupervisedProcess::State::starting) ? INT64_MAX : lines.due_ns();
}

void JobLoop::read_lines(std::int64_t now_ns) {
  if (now_ns < lines_due_ns()) return;
  metering.take_lines(lines.read(now_ns));
  if (lines.descriptor() >= 0) events.rearm(lines.descriptor(), &lines);
}

void JobLoop::take_marks(SupervisedProcess& process) {
  metering.take_marks(process);
  if (process.marks.closed()) events.remove(process.marks.descriptor());
}

void JobLoop::end(SupervisedProcess& process) {
  metering.take_lines(lines.finish(process.role()));
  process.state = SupervisedProcess::State::ended;
}

MemoryKills::MemoryKills() : before_(oom_kills_anywhere()) {}

bool MemoryKills::grew(const TrialCgroup& group) const {
  if (const auto own = oom_kills_of(group)) return *own > 0;
  const auto anywhere = oom_kills_anywhere();
  return anywhere && before_ && *anywhere > *before_;
}

}  // namespace memduel
