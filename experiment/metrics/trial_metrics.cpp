#include "experiment/metrics/trial_metrics.h"

#include <algorithm>
#include <cmath>

#include "base/metric_catalogue.h"
#include "experiment/metrics/gpu_metrics.h"
#include "experiment/metrics/heap_metrics.h"
#include "experiment/metrics/pss_metrics.h"

namespace memduel {
namespace {

void raise(Metrics& metrics, const std::string& name, std::optional<double> value) {
  if (!value) return;
  const auto [entry, is_new] = metrics.emplace(name, *value);
  if (!is_new) entry->second = std::max(entry->second, *value);
}

/// What meters read at marks counts with its largest value.
void raise_all(Metrics& metrics, const Metrics& values) {
  for (const auto& [name, value] : values) raise(metrics, name, value);
}

std::optional<double> as_double(std::optional<std::int64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

/// What counters grew by; those that are missing on a side, or fell because a child process of the
/// role ended, are left out.
Metrics growth(const Metrics& from, const Metrics& to) {
  Metrics grown;
  for (const auto& [name, value] : to) {
    const auto begin = from.find(name);
    if (begin != from.end() && value >= begin->second) grown[name] = value - begin->second;
  }
  return grown;
}

void end_round_at(RoundData& round, std::int64_t t_ns) {
  round.end_ns = t_ns;
  round.metrics[kRoundSeconds] = static_cast<double>(t_ns - round.begin_ns) * 1e-9;
}

/// What the kernel says of a role's process once it has ended.
void add_usage(Metrics& metrics, const RoleTrace& trace) {
  if (!trace.exit || trace.outlived_its_process) return;
  metrics[kCpuSeconds] = trace.exit->cpu_seconds;
  metrics[kMinorFaults] = static_cast<double>(trace.exit->minor_faults);
  metrics[kMajorFaults] = static_cast<double>(trace.exit->major_faults);
  if (!trace.has_matched_descendants)
    raise(metrics, kPeakRss, static_cast<double>(trace.exit->max_rss_bytes));
}

/// Walks over the marks of one role.
class MarkWalk {
 public:
  explicit MarkWalk(const RoleTrace& trace)
      : trace_(trace),
        idle_(idle_level(trace)),
        has_rounds_(marks_rounds(trace)),
        stretch_begin_ns_(trace.begin_ns) {
    data_.role = trace.role;
    data_.series.push_back(trace.rss);
  }

  RoleData finish() && {
    for (const MarkEvent& event : trace_.marks) take(event);
    take_tail();
    if (!has_rounds_) data_.rounds.push_back(whole_life());
    if (idle_) data_.metrics[kIdleRss] = static_cast<double>(idle_->bytes);
    add_exit();
    return std::move(data_);
  }

 private:
  void take(const MarkEvent& event) {
    const Mark& mark = event.mark;
    if (mark.kind == Mark::Kind::start) return;
    if (mark.kind == Mark::Kind::gauge) return take_gauge(mark);
    has_marks_ = true;
    end_stretch(mark.t_ns, stretch_peak(mark));
    // Without resets it is the peak of the whole life, which is the trial's and no stretch's.
    raise(data_.metrics, kPeakRss, as_double(mark.sizes.peak));
    raise_sizes(mark.sizes);
    raise_all(data_.metrics, event.reading.values);
    switch (mark.kind) {
      case Mark::Kind::round_begin:
        if (round_) close_round(event);
        open_round(event);
        break;
      case Mark::Kind::round_end:
        if (round_ && round_->round == mark.round) close_round(event);
        break;
      case Mark::Kind::phase:
        close_phase(mark.t_ns);
        if (is_in_round() && !mark.name.empty()) phase_ = PhaseData{mark.name, mark.t_ns, 0, {}};
        break;
      default:
        break;
    }
  }

  void take_gauge(const Mark& mark) {
    if (mark.better != Direction::undeclared) data_.declared.insert({mark.name, mark.better});
    // Of durations the trial keeps none: its own is their median, which analysis/ takes.
    const bool is_duration = round_ && mark.name.ends_with("_seconds");
    const bool is_peak = mark.name.starts_with("peak_");
    for (Metrics* metrics :
         {is_duration ? nullptr : &data_.metrics, round_ ? &round_->metrics : nullptr,
          is_peak && phase_ ? &phase_->metrics : nullptr}) {
      if (metrics == nullptr) continue;
      if (is_peak) {
        raise(*metrics, mark.name, mark.value);
      } else {
        (*metrics)[mark.name] = mark.value;
      }
    }
  }

  /// VmHWM where the mark carries that of the stretch alone and of all that the role has, else the
  /// largest sample, and no less than what the mark tells.
  std::optional<double> stretch_peak(const Mark& mark) const {
    const bool tells_all = trace_.peaks_reset && !trace_.has_several_processes;
    if (tells_all && mark.sizes.peak) return as_double(mark.sizes.peak);
    auto peak = largest_between(trace_.rss, stretch_begin_ns_, mark.t_ns);
    if (trace_.peaks_reset && mark.sizes.peak) peak = std::max(peak.value_or(0), *mark.sizes.peak);
    if (mark.sizes.rss) peak = std::max(peak.value_or(0), *mark.sizes.rss);
    return as_double(peak);
  }

  void end_stretch(std::int64_t t_ns, std::optional<double> peak) {
    raise(data_.metrics, kPeakRss, peak);
    if (idle_ && stretch_begin_ns_ >= idle_->t_ns) raise_above_idle(peak);
    if (round_) raise(round_->metrics, kPeakRss, peak);
    if (phase_) raise(phase_->metrics, kPeakRss, peak);
    stretch_begin_ns_ = t_ns;
  }

  void raise_above_idle(std::optional<double> peak) {
    if (!peak) return;
    raise(data_.metrics, kPeakRssAboveIdle,
          std::max(0.0, *peak - static_cast<double>(idle_->bytes)));
  }

  void raise_sizes(const MarkSizes& sizes) {
    for (Metrics* metrics : {&data_.metrics, round_ ? &round_->metrics : nullptr}) {
      if (metrics == nullptr) continue;
      raise(*metrics, kPeakRssAnon, as_double(sizes.anon));
      raise(*metrics, kPeakRssFile, as_double(sizes.file));
    }
  }

  void open_round(const MarkEvent& event) {
    round_ = RoundData{event.mark.round, event.mark.t_ns, 0, {}, {}};
    counters_at_begin_ = event.reading.counters;
    raise_sizes(event.mark.sizes);
  }

  void close_phase(std::int64_t t_ns) {
    if (!phase_) return;
    phase_->end_ns = t_ns;
    (round_ ? round_->phases : phases_of_life_).push_back(std::move(*phase_));
    phase_.reset();
  }

  void close_round(const MarkEvent& event) {
    close_phase(event.mark.t_ns);
    end_round_at(*round_, event.mark.t_ns);
    if (event.mark.sizes.rss) {
      const double rss = static_cast<double>(*event.mark.sizes.rss);
      round_->metrics[kEndRss] = rss;
      data_.metrics[kEndRss] = rss;
    }
    round_->metrics.merge(growth(counters_at_begin_, event.reading.counters));
    raise_all(round_->metrics, event.reading.values);
    data_.rounds.push_back(std::move(*round_));
    round_.reset();
  }

  /// From the last mark to the end only samples tell. A program that marks only where rounds begin
  /// ends its last round by ending; a round that a failure cut short is no round.
  void take_tail() {
    const std::int64_t end_ns = end_of(trace_);
    if (has_marks_) {
      end_stretch(end_ns, as_double(largest_between(trace_.rss, stretch_begin_ns_, end_ns)));
    }
    if (!has_rounds_) return close_phase(end_ns);
    if (!round_ || !trace_.ended_well) return;
    close_phase(end_ns);
    end_round_at(*round_, end_ns);
    data_.rounds.push_back(std::move(*round_));
  }

  RoundData whole_life() {
    const std::int64_t end_ns = end_of(trace_);
    RoundData life{1, trace_.begin_ns, end_ns, {}, std::move(phases_of_life_)};
    raise(life.metrics, kPeakRss, data_.metrics.value(kPeakRss));  // of the stretches
    raise(life.metrics, kPeakRss, as_double(largest_between(trace_.rss, trace_.begin_ns, end_ns)));
    life.metrics[kRoundSeconds] = static_cast<double>(end_ns - trace_.begin_ns) * 1e-9;
    add_usage(life.metrics, trace_);
    if (idle_) raise_above_idle(as_double(largest_between(trace_.rss, idle_->t_ns, end_ns)));
    raise(data_.metrics, kPeakRss, life.metrics.value(kPeakRss));
    return life;
  }

  void add_exit() {
    if (!trace_.exit) return;
    data_.exit_status = trace_.exit->status;
    data_.exit_signal = trace_.exit->signal;
    add_usage(data_.metrics, trace_);
  }

  /// Without marks of rounds the whole life is one.
  [[nodiscard]] bool is_in_round() const { return round_ || !has_rounds_; }

  const RoleTrace& trace_;
  std::optional<IdleLevel> idle_;
  bool has_rounds_;
  RoleData data_;
  bool has_marks_ = false;
  std::int64_t stretch_begin_ns_;
  std::optional<RoundData> round_;
  std::optional<PhaseData> phase_;
  std::vector<PhaseData> phases_of_life_;  ///< of a role that marks no rounds
  Metrics counters_at_begin_;
};

}  // namespace

RoleData role_metrics(const RoleTrace& trace, const std::vector<PssSweep>& sweeps) {
  RoleData data = MarkWalk(trace).finish();
  add_pss(data, sweeps, [&](const PssSweep& sweep) -> std::optional<double> {
    const auto found = sweep.bytes.find(trace.role);
    if (found == sweep.bytes.end()) return std::nullopt;
    return found->second;
  });
  keep_pss_of_the_peak(data, trace.rss);
  add_heap(data, trace);
  add_gpu(data, trace);
  return data;
}

}  // namespace memduel
