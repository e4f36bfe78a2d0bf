#include <algorithm>
#include <cmath>

#include "end_state.h"
#include "heap_metrics.h"
#include "meters/meter.h"
#include "model/metric_catalogue.h"
#include "rss_peaks.h"
#include "sampled_series.h"
#include "trial/trial_trace.h"

namespace memduel {

void keep_largest(std::vector<OutsideRounds>& parts, const OutsideRounds& part) {
  const auto same = std::ranges::find(parts, part.part, &OutsideRounds::part);
  if (same == parts.end()) {
    parts.push_back(part);
    std::ranges::stable_sort(parts, {}, &OutsideRounds::part);
  } else if (part.peak_rss_bytes > same->peak_rss_bytes) {
    *same = part;
  }
}

void drop_rounds_after(RoleData& role, int last) {
  std::erase_if(role.rounds.edit(), [&](const RoundData& round) {
    if (round.round <= last) return false;
    if (const auto peak = round.metrics.value(kPeakRss))
      keep_largest(role.outside_rounds, {TrialPart::after_rounds, round.begin_ns, round.end_ns,
                                         *peak, round.peak_rss_is_sampled});
    return true;
  });
}

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
}

/// The peak of several stretches that follow on each other.
struct JoinedStretches {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<double> peak = std::nullopt;
  std::optional<double> without_files = std::nullopt;
  bool is_sampled = false;

  void add(const RssStretch& stretch, std::optional<double> rest) {
    if (const auto other = as_double(stretch.peak_bytes))
      peak = std::max(peak.value_or(*other), *other);
    if (rest) without_files = std::max(without_files.value_or(*rest), *rest);
    is_sampled = is_sampled || stretch.is_sampled;
    end_ns = stretch.end_ns;
  }
};

/// Walks over the marks of one role.
class MarkWalk {
 public:
  explicit MarkWalk(const RoleTrace& trace)
      : trace_(trace), has_rounds_(marks_rounds(trace)), stretches_(rss_stretches(trace)) {
    data_.role = trace.role;
    data_.series.push_back(trace.rss);
    data_.peak_rss_is_sampled = has_sampled_peak(trace);
    if (!trace.has_several_processes) maximum_ = as_double(kernel_maximum(trace));
  }

  RoleData finish() && {
    for (const MarkEvent& event : trace_.marks) take(event);
    take_tail();
    if (!has_rounds_) data_.rounds.push_back(whole_life());
    add_above_idle();
    if (trace_.has_several_processes)
      raise(data_.metrics, kPeakLargestProcess, as_double(largest_process(trace_)));
    add_exit();
    return std::move(data_);
  }

 private:
  void take(const MarkEvent& event) {
    const Mark& mark = event.mark;
    if (mark.kind == Mark::Kind::start) return;
    if (mark.kind == Mark::Kind::gauge) return take_gauge(mark);
    end_stretch();
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
    // Of durations the trial keeps none: its own is their median, which bench/verdict/ takes.
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

  void end_stretch() {
    const RssStretch& stretch = stretches_[stretch_++];
    const auto peak = as_double(stretch.peak_bytes);
    const auto without_files = as_double(peak_without_files(trace_, stretch));
    for (Metrics* metrics : {&data_.metrics, phase_ ? &phase_->metrics : nullptr}) {
      if (metrics == nullptr) continue;
      raise(*metrics, kPeakRss, peak);
      raise(*metrics, kPeakRssNoFiles, without_files);
    }
    if (!round_ && !outside_) outside_ = JoinedStretches{stretch.begin_ns};
    (round_ ? in_round_ : *outside_).add(stretch, without_files);
  }

  /// The kernel's maximum of one process bounds what samples may have missed.
  [[nodiscard]] bool may_be_larger(const JoinedStretches& part) const {
    return part.is_sampled && !(maximum_ && part.peak.value_or(0) >= *maximum_);
  }

  void end_outside(TrialPart part) {
    if (outside_ && outside_->peak)
      keep_largest(data_.outside_rounds, {part, outside_->begin_ns, outside_->end_ns,
                                          *outside_->peak, may_be_larger(*outside_)});
    outside_.reset();
  }

  /// By construction, whatever the parts of the trial are.
  void add_above_idle() {
    const auto idle = idle_level(trace_);
    if (!idle) return;
    data_.metrics[kIdleRss] = static_cast<double>(idle->bytes);
    raise(data_.metrics, kPeakRss, data_.metrics[kIdleRss]);
    data_.metrics[kPeakRssAboveIdle] = data_.metrics[kPeakRss] - data_.metrics[kIdleRss];
  }

  void raise_sizes(const MarkSizes& sizes) {
    for (Metrics* metrics : {&data_.metrics, round_ ? &round_->metrics : nullptr}) {
      if (metrics == nullptr) continue;
      raise(*metrics, kPeakRssAnon, as_double(sizes.anon));
      raise(*metrics, kPeakRssFile, as_double(sizes.file));
    }
  }

  void open_round(const MarkEvent& event) {
    end_outside(data_.rounds.empty() ? TrialPart::start_up : TrialPart::between_rounds);
    round_ = RoundData{event.mark.round, event.mark.t_ns, 0, {}, {}};
    in_round_ = JoinedStretches{event.mark.t_ns};
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
    // The role's is its last round's: none where that was not seen.
    data_.metrics.erase(kEndRss);
    if (const auto rss = rss_at_end(round_->begin_ns, event, trace_.rss)) {
      round_->metrics[kEndRss] = *rss;
      data_.metrics[kEndRss] = *rss;
    }
    round_->metrics.merge(growth(counters_at_begin_, event.reading.counters));
    raise_all(round_->metrics, event.reading.values);
    add_round();
  }

  void add_round() {
    raise(round_->metrics, kPeakRss, in_round_.peak);
    raise(round_->metrics, kPeakRssNoFiles, in_round_.without_files);
    round_->peak_rss_is_sampled = may_be_larger(in_round_);
    data_.rounds.push_back(std::move(*round_));
    round_.reset();
  }

  /// A program that marks only where rounds begin ends its last round by ending. A round that a
  /// failure cut short is no round: its peak is that of a part after the rounds.
  void take_tail() {
    end_stretch();
    const std::int64_t end_ns = end_of(trace_);
    if (!has_rounds_) return close_phase(end_ns);
    if (round_ && trace_.ended_well) {
      close_phase(end_ns);
      end_round_at(*round_, end_ns);
      add_round();
    } else if (round_) {
      outside_ = in_round_;
    }
    end_outside(TrialPart::after_rounds);
  }

  RoundData whole_life() {
    const std::int64_t end_ns = end_of(trace_);
    RoundData life{1, trace_.begin_ns, end_ns, {}, std::move(phases_of_life_)};
    raise(life.metrics, kPeakRss, outside_->peak);
    raise(life.metrics, kPeakRssNoFiles, outside_->without_files);
    life.peak_rss_is_sampled = may_be_larger(*outside_);
    life.metrics[kRoundSeconds] = static_cast<double>(end_ns - trace_.begin_ns) * 1e-9;
    add_usage(life.metrics, trace_);
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
  bool has_rounds_;
  std::vector<RssStretch> stretches_;
  std::size_t stretch_ = 0;
  std::optional<double> maximum_;  ///< of the whole trace
  RoleData data_;
  std::optional<RoundData> round_;
  JoinedStretches in_round_;
  std::optional<JoinedStretches> outside_;  ///< since the last round; the life of a role without
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
  add_sampled_series(data, trace, trace.marks);
  add_gpu(data, trace.marks);
  add_end_state(data, trace);
  return data;
}

}  // namespace memduel
