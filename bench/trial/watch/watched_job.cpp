#include "watched_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "meters/meter.h"
#include "model/metric_catalogue.h"
#include "trial/processes.h"
#include "util/text.h"

namespace memduel {
namespace {

bool is_running(const SupervisedProcess& process) {
  return process.state == SupervisedProcess::State::running;
}

bool is_of_rounds(const Mark& mark) {
  return mark.kind == Mark::Kind::idle || bounds_a_round(mark.kind);
}

}  // namespace

WatchedJob::WatchedJob(JobLoop& loop, const ProcfsMeter& meter, bool knows_idle)
    : loop_(loop), meter_(meter), all_(kTree, monotonic_ns(), knows_idle) {
  for (const SupervisedProcess& process : loop.processes.started())
    roles_.emplace_back(process.role(), monotonic_ns(), knows_idle);
}

void WatchedJob::take(bool sampled, std::int64_t now_ns) {
  take_marks();
  if (sampled) take_sample(now_ns);
  for (PssSweep& sweep : loop_.meters.take_sweeps()) take_sweep(std::move(sweep));
}

void WatchedJob::take_marks() {
  std::deque<SupervisedProcess>& processes = loop_.processes.started();
  std::vector<std::vector<MarkEvent>> marks;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    RoleTrace& trace = processes[i].trace;
    for (WatchedRole* role : {&roles_[i], &all_}) {
      if (!trace.peaks_reset) role->no_peak_resets();
      if (trace.has_several_processes) role->has_several_processes();
    }
    marks.push_back(std::exchange(trace.marks, {}));
  }
  take_for_all(marks);
  for (std::size_t i = 0; i < processes.size(); ++i)
    for (MarkEvent& event : marks[i]) roles_[i].take(std::move(event));
}

/// A line is about every process that runs: each has the same marks. Of several processes there is
/// no peak, since those of each are not of one moment.
void WatchedJob::take_for_all(const std::vector<std::vector<MarkEvent>>& marks) {
  const std::size_t count =
      std::ranges::max(marks, {}, [](const auto& of) { return of.size(); }).size();
  for (std::size_t at = 0; at < count; ++at) {
    MarkEvent all;
    MarkSizes sums;
    for (const auto& of_role : marks) {
      if (at >= of_role.size()) continue;
      all = of_role[at];
      add_up(sums.rss, all.mark.sizes.rss);
      add_up(sums.anon, all.mark.sizes.anon);
      add_up(sums.file, all.mark.sizes.file);
    }
    const std::vector<pid_t>& members = loop_.processes.started().front().members;
    if (marks.size() > 1) {
      all.reading = {};
      all.mark.sizes = sums;
    } else if (!all.is_of_line && members.size() > 1 && is_of_rounds(all.mark)) {
      all.mark.sizes = memory_.read(members);  // the process that marks knows only of itself
    }
    peak_rss_bytes_ = std::max(peak_rss_bytes_, all.mark.sizes.rss.value_or(0));
    all_.take(std::move(all));
  }
}

void WatchedJob::take_sample(std::int64_t now_ns) {
  const std::deque<SupervisedProcess>& processes = loop_.processes.started();
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const auto rss = meter_.latest(roles_[i].role()).rss_bytes;
    if (is_running(processes[i]) && rss) roles_[i].sample(now_ns, *rss);
  }
  const auto sum = rss_now();
  if (!sum) return;
  ++samples_;
  all_.sample(now_ns, *sum);
  peak_rss_bytes_ = std::max(peak_rss_bytes_, *sum);
}

void WatchedJob::take_sweep(PssSweep sweep) {
  for (WatchedRole& role : roles_)
    if (sweep.bytes.contains(role.role())) role.add_sweep(sweep);
  if (!sweep.complete) return;
  double sum = 0;
  for (const auto& [role, bytes] : sweep.bytes) sum += bytes;
  sweep.bytes[kTree] = sum;
  all_.add_sweep(sweep);
  if (const auto bytes = static_cast<std::int64_t>(sum); bytes >= peak_pss_bytes_) {
    peak_pss_bytes_ = bytes;
    rss_at_peak_pss_bytes_ = rss_now();
  }
  last_sweep_ = std::move(sweep);
}

std::optional<std::int64_t> WatchedJob::rss_now() const {
  std::optional<std::int64_t> sum;
  for (const SupervisedProcess& process : std::as_const(loop_.processes).started())
    if (is_running(process)) add_up(sum, meter_.latest(process.role()).rss_bytes);
  return sum;
}

void WatchedJob::finish(const SupervisedProcess& process, const RoleEnd& end) {
  std::ranges::find(roles_, process.role(), &WatchedRole::role)->finish(end);
}

WatchedNow WatchedJob::now_of(std::size_t role) const {
  WatchedNow now;
  now.role = roles_[role].role();
  if (samples_ > 0) now.peak_rss_bytes = roles_[role].peak_rss_bytes();
  if (!is_running(std::as_const(loop_.processes).started()[role])) return now;
  const auto latest = meter_.latest(now.role);
  now.processes = latest.processes;
  now.rss_bytes = latest.rss_bytes;
  if (last_sweep_)
    if (const auto pss = last_sweep_->bytes.find(now.role); pss != last_sweep_->bytes.end())
      now.pss_bytes = static_cast<std::int64_t>(pss->second);
  return now;
}

WatchSnapshot WatchedJob::snapshot(std::int64_t now_ns) const {
  WatchSnapshot shot;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    shot.roles.push_back(now_of(i));
    shot.processes += shot.roles.back().processes;
  }
  shot.rss_bytes = rss_now();
  shot.samples = samples_;
  if (samples_ > 0)
    shot.peak_rss_bytes = std::max(
        peak_rss_bytes_, static_cast<std::int64_t>(all_.metrics().value(kPeakRss).value_or(0)));
  if (last_sweep_) {
    shot.pss_bytes = static_cast<std::int64_t>(last_sweep_->bytes.at(kTree));
    shot.peak_pss_bytes = peak_pss_bytes_;
    shot.rss_at_peak_pss_bytes = rss_at_peak_pss_bytes_;
    shot.pss_age_seconds = static_cast<double>(now_ns - last_sweep_->t_ns) * 1e-9;
  }
  shot.running_round = all_.running_round();
  shot.rounds_ended = all_.round_ends().count();
  shot.round_ends = all_.round_ends().kept();
  shot.rss = meter_.series_of(kTree);
  return shot;
}

std::vector<RoleData> WatchedJob::take_roles() {
  std::vector<RoleData> roles;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    roles.push_back(roles_[i].take_data(meter_.series_of(roles_[i].role())));
    const auto& exit = loop_.processes.started()[i].trace.exit;
    if (!exit) continue;
    roles.back().exit_status = exit->status;
    roles.back().exit_signal = exit->signal;
  }
  roles.push_back(all_.take_data(meter_.series_of(kTree)));
  return roles;
}

std::vector<Note> WatchedJob::limitations(double interval_seconds) const {
  std::vector<Note> notes;
  if (all_.round_ends().count() == 0 && all_.marks_dropped() == 0)
    notes.push_back(
        {kPeaksSampledFromOutside,
         fmt::format(
             "no round ended, so the watch counts as one round, with peaks sampled every {}",
             format_seconds(interval_seconds)),
         "mark rounds with memduel/annotate.h, or match them with --round-pattern"});
  if (loop_.meters.incomplete_sweeps() > 0)
    notes.push_back(
        {"pss_not_readable",
         "the PSS of some processes could not be read: they belong to another user or exited "
         "meanwhile",
         "run memduel watch as their user or as root"});
  if (loop_.meters.skipped_sweeps() > 0)
    notes.push_back({"pss_rationed",
                     "PSS was read less often than requested, to keep its cost below 0.15% of a "
                     "CPU",
                     ""});
  return notes;
}

std::vector<Note> WatchedJob::warnings() const {
  if (all_.marks_dropped() == 0) return {};
  return {{"marks_dropped",
           fmt::format(
               "{} phases and custom metrics were omitted from rounds with more than 10000 of them",
               all_.marks_dropped()),
           "send fewer markers per round"}};
}

}  // namespace memduel
