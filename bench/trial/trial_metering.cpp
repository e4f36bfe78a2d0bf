#include "trial_metering.h"

#include <algorithm>
#include <utility>

#include "meters/meter_registry.h"
#include "metrics/end_state.h"
#include "model/metric_catalogue.h"
#include "trial/processes.h"

namespace memduel {

TrialMeters::TrialMeters(const TrialPlan& plan)
    : begin_cpu_ns_(clock_ns(CLOCK_PROCESS_CPUTIME_ID)),
      pace_(static_cast<std::int64_t>(plan.interval_ms * 1e6), monotonic_ns()),
      costly_(monotonic_ns(), plan.rounds.has_value()) {
  MeterSite site;
  for (const ProcessSpec& process : plan.processes) {
    if (process.heap_dir)
      site.heap_directories[process.role] = *process.heap_dir;
    else if (!process.is_never_counted)
      site.left_out.insert(process.role);
  }
  for (const std::string& name : plan.meters) {
    const MeterEntry& entry = meter_named(name);
    if (entry.make != nullptr) meters_.push_back(entry.make(site));
  }
}

TrialMeters::TrialMeters(std::unique_ptr<Meter> meter, double interval_seconds)
    : begin_cpu_ns_(clock_ns(CLOCK_PROCESS_CPUTIME_ID)),
      pace_(whole_ns(interval_seconds), monotonic_ns(), SamplingPace::Kind::steady),
      costly_(monotonic_ns(), false),
      readings_({monotonic_ns(), false}) {
  meters_.push_back(std::move(meter));
}

void TrialMeters::add(const std::string& role, pid_t pid) {
  for (const auto& meter : meters_) meter->add(role, pid);
}

std::int64_t TrialMeters::due_ns() const {
  return meters_.empty() || resting_ ? INT64_MAX : due_ns_;
}

std::int64_t TrialMeters::cpu_ns() const {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns_;
}

double TrialMeters::cpu_seconds() const {
  return static_cast<double>(cpu_ns()) * 1e-9;
}

bool TrialMeters::sample(std::int64_t now_ns) {
  if (now_ns < due_ns()) return false;
  bool moved = false;
  for (const auto& meter : meters_) moved = meter->sample(now_ns) || moved;
  due_ns_ = pace_.next(now_ns, cpu_ns(), moved);
  return true;
}

MeterReading TrialMeters::read(const std::string& role) {
  MeterReading all;
  if (resting_ || (readings_ && !readings_->affordable(monotonic_ns()))) return all;
  const std::int64_t cpu_before = readings_ ? cpu_ns() : 0;
  for (const auto& meter : meters_) {
    MeterReading reading = meter->read(role);
    all.counters.merge(reading.counters);
    all.values.merge(reading.values);
  }
  if (readings_) readings_->spent(cpu_ns() - cpu_before);
  return all;
}

bool TrialMeters::sweep(const std::vector<std::string>& roles, bool all_roles, Need need) {
  const std::int64_t now_ns = monotonic_ns();
  if (need == Need::if_affordable && (resting_ || !costly_.affordable(now_ns))) {
    ++skipped_sweeps_;
    return false;
  }
  const std::int64_t cpu_before = cpu_ns();
  PssSweep sweep{now_ns, {}, all_roles};
  for (const std::string& role : roles) {
    for (const auto& meter : meters_) {
      const Metrics values = meter->read_costly(role);
      const auto pss = values.find("pss_bytes");
      if (pss != values.end()) sweep.bytes[role] = pss->second;
    }
    sweep.complete = sweep.complete && sweep.bytes.contains(role);
  }
  costly_.spent(cpu_ns() - cpu_before);
  if (!sweep.complete || sweep.bytes.empty()) ++incomplete_sweeps_;
  if (!sweep.bytes.empty()) sweeps_.push_back(std::move(sweep));
  return true;
}

void TrialMeters::collect(TrialTrace& trace) {
  trace.sweeps = take_sweeps();
  for (const auto& meter : meters_) {
    for (auto& [role, series] : meter->series()) {
      if (role == kTree) place_of(series.metric, trace.tree) = series;
      for (RoleTrace& each : trace.roles) {
        if (each.role == role) place_of(series.metric, each) = series;
      }
    }
  }
}

namespace {

/// Between two readings of PSS where no round's end asks for it, and before the next try where its
/// share of the time did not allow one.
constexpr std::int64_t kSweepInterval = kSecondNs;

void count_round(RoleTrace& trace, const Mark& mark, std::int64_t now_ns) {
  if (mark.kind == Mark::Kind::round_begin) {
    if (trace.last_round_begun_ns != 0)
      trace.longest_round_ns = std::max(trace.longest_round_ns, now_ns - trace.last_round_begun_ns);
    trace.last_round_begun_ns = now_ns;
    trace.last_round_begun = std::max(trace.last_round_begun, mark.round);
    trace.last_round_ended = std::max(trace.last_round_ended, mark.round - 1);
  } else if (mark.kind == Mark::Kind::round_end) {
    trace.marks_round_ends = true;
    trace.last_round_ended = std::max(trace.last_round_ended, mark.round);
  }
}

}  // namespace

TrialMetering::TrialMetering(const Parts& parts)
    : of_(parts),
      begin_ns_(of_.clock()),
      cgroup_rounds_(of_.group),
      sweep_due_ns_(begin_ns_ + of_.first_sweep_after_ns) {}

bool TrialMetering::is_reference(const std::string& role) const {
  return role == of_.processes.reference();
}

void TrialMetering::take_marks(SupervisedProcess& process) {
  const std::int64_t now = of_.clock();
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
    take(process.trace, &process, {std::move(mark), {}});
  }
}

void TrialMetering::take(RoleTrace& trace, SupervisedProcess* process, MarkEvent event) {
  note_round(trace, process, event);
  trace.marks.push_back(event);
  lend_round(trace.role, event.mark);
}

void TrialMetering::take_lines(const std::vector<MarkedLine>& lines) {
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const MarkedLine& line = lines[at];
    const bool overtaken = is_overtaken(lines, at);
    if (line.role == kTree) {
      for (SupervisedProcess& process : of_.processes.started())
        if (process.state == SupervisedProcess::State::running)
          take_line(process.trace, &process, line, overtaken);
      continue;
    }
    of_.processes.look_for(line.role, of_.clock());
    SupervisedProcess* process = of_.processes.find(line.role);
    take_line(
        process != nullptr ? process->trace : of_.processes.matched_trace(line.role, of_.clock()),
        process, line, overtaken);
  }
}

/// What a process says through annotate.h is exact; of its lines only the metrics count then, and
/// its peak is left for it to read.
void TrialMetering::take_line(RoleTrace& trace, SupervisedProcess* process, const MarkedLine& line,
                              bool overtaken) {
  const bool marks_itself = process != nullptr && process->marks.marking_pid != 0;
  MarkSizes sizes = marks_itself ? MarkSizes{} : sizes_at(line, trace, overtaken);
  const std::int64_t now = of_.clock();
  for (Mark mark : line.marks) {
    if (marks_itself && mark.kind != Mark::Kind::gauge) {
      of_.text_marks.pass_over(process->role());
      continue;
    }
    mark.t_ns = now;
    mark.sizes = sizes;
    sizes.peak.reset();  // of the stretch that the line's first mark ended
    take(trace, process, {std::move(mark), {}, true});
  }
}

MarkSizes TrialMetering::sizes_at(const MarkedLine& line, RoleTrace& trace, bool overtaken) {
  if (line.marks.front().kind == Mark::Kind::gauge) return {};
  RoleMemory& memory = role_memory_[trace.role];
  MarkSizes sizes = memory.read(of_.processes.of_role(trace.role));
  trace.peaks_reset = trace.peaks_reset && memory.peaks_reset();
  return overtaken ? MarkSizes{sizes.peak, {}, {}, {}} : sizes;
}

void TrialMetering::note_round(RoleTrace& trace, SupervisedProcess* process, MarkEvent& event) {
  const Mark& mark = event.mark;
  if (mark.kind != Mark::Kind::idle && !bounds_a_round(mark.kind)) return;
  if (is_reference(trace.role)) cgroup_rounds_.take(mark);
  if (of_.rest_in_even_rounds && is_reference(trace.role) && mark.kind == Mark::Kind::round_begin)
    of_.meters.rest(mark.round % 2 == 0);
  event.reading = of_.meters.read(trace.role);
  if (process != nullptr && mark.kind == Mark::Kind::round_begin)
    process->running_round = mark.round;
  if (mark.kind == Mark::Kind::round_end) {
    if (process != nullptr) process->running_round.reset();
    sweep_at_round_end(trace.role, mark.round);
  }
  count_round(trace, mark, of_.clock());
}

/// The roles that say nothing of rounds are read when the reference role begins or ends one.
void TrialMetering::lend_round(const std::string& from, const Mark& mark) {
  if (!bounds_a_round(mark.kind) || !is_reference(from)) return;
  for (SupervisedProcess& process : of_.processes.started()) {
    const bool takes = process.spec().takes_rounds &&
                       process.state == SupervisedProcess::State::running &&
                       process.marks.marking_pid == 0 && process.role() != from;
    if (!takes) continue;
    RoleMemory& memory = role_memory_[process.role()];
    Mark lent = mark;
    lent.sizes = memory.read(process.members);
    lent.t_ns = of_.clock();
    process.trace.peaks_reset = process.trace.peaks_reset && memory.peaks_reset();
    process.trace.has_lent_rounds = true;
    take(process.trace, &process, {std::move(lent), {}, true});
  }
}

/// A trial without marks has no round ends to read PSS at, and those of commands may be far apart.
bool TrialMetering::sample(std::int64_t now_ns) {
  const bool sampled = of_.meters.sample(now_ns);
  if (!of_.plan.meters.empty()) cgroup_peak_.sample(now_ns, of_.group);
  if (sweeps_at_round_ends_only() || now_ns < sweep_due_ns_) return sampled;
  sweep_due_ns_ = now_ns + kSweepInterval;
  const bool swept = sweep_all(TrialMeters::Need::if_affordable, false);
  if (swept && of_.plan.pss_interval_seconds)
    sweep_due_ns_ = now_ns + whole_ns(*of_.plan.pss_interval_seconds);
  return sampled;
}

void TrialMetering::about_to_stop() {
  if (is_about_to_stop_ || sweeps_at_round_ends_only()) return;
  is_about_to_stop_ = true;
  sweep_all(TrialMeters::Need::must, false);
}

bool TrialMetering::sweeps_at_round_ends_only() const {
  const SupervisedProcess* reference = of_.processes.find(of_.processes.reference());
  return reference != nullptr && reference->marks.marking_pid != 0 &&
         !of_.plan.pss_between_rounds && !of_.plan.pss_interval_seconds;
}

/// PSS is read of each role at the end of its last round, and once then of all together, while
/// they are all still there, which does for the roles that end right after; at earlier round ends
/// of the reference role as its share allows.
void TrialMetering::sweep_at_round_end(const std::string& role, int round) {
  if (of_.plan.pss_interval_seconds) return;
  if (of_.plan.rounds != round) {
    if (is_reference(role)) sweep_all(TrialMeters::Need::if_affordable, true);
  } else if (!last_round_swept_ns_) {
    last_round_swept_ns_ = of_.clock();
    sweep_all(TrialMeters::Need::must, true);
  } else if (of_.clock() - *last_round_swept_ns_ > kNearEndNs) {
    const bool is_whole_job =
        of_.processes.started().size() == 1 && of_.processes.matched_traces().empty();
    of_.meters.sweep({role}, is_whole_job, TrialMeters::Need::must);
  }
}

/// At the end of a round the sum is the job's only where all of its roles are still there.
bool TrialMetering::sweep_all(TrialMeters::Need need, bool at_round_end) {
  std::vector<std::string> running;
  for (const SupervisedProcess& process : of_.processes.started()) {
    if (process.state == SupervisedProcess::State::running) running.push_back(process.role());
  }
  const bool all_roles = !at_round_end || running.size() == of_.processes.started().size();
  for (const auto& [role, trace] : of_.processes.matched_traces()) running.push_back(role);
  return of_.meters.sweep(running, all_roles, need);
}

}  // namespace memduel
