#include "watched_role.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/metric_catalogue.h"
#include "trial/trial_trace.h"

namespace memduel {
namespace {

/// Of the running round: what it needs to tell its peaks and those of its phases.
constexpr std::size_t kRoundPoints = 4096;
/// Of PSS, which is read once a minute.
constexpr std::size_t kPssPoints = 2048;
constexpr std::size_t kShownRounds = 128;
/// A few hundred phases and gauges in a round are many.
constexpr std::size_t kMostMarks = 10'000;

bool grows_only(const std::string& metric) {
  return metric.starts_with("peak_") || metric == kSwapped;
}

}  // namespace

WatchedRole::WatchedRole(std::string role, std::int64_t begin_ns, bool knows_idle)
    : rss_("rss_bytes", kRoundPoints),
      pss_("pss_bytes", kPssPoints),
      round_ends_(kShownRounds),
      knows_idle_(knows_idle) {
  trace_.role = std::move(role);
  trace_.begin_ns = begin_ns;
}

void WatchedRole::add_sweep(const PssSweep& sweep) {
  sweeps_.push_back(sweep);
  const auto bytes = sweep.bytes.find(trace_.role);
  if (bytes == sweep.bytes.end()) return;
  pss_.add(sweep.t_ns, static_cast<std::int64_t>(bytes->second));
  double& peak = metrics_[kPeakPss];
  peak = std::max(peak, bytes->second);
  // A round that takes hours: the last ones may still be near its end.
  constexpr std::size_t kMostSweeps = 64;
  if (sweeps_.size() > kMostSweeps) sweeps_.erase(sweeps_.begin());
}

/// A mark's reading is a sample like any other; those of annotate.h may come after a later sample.
void WatchedRole::sample_at(const Mark& mark) {
  if (mark.sizes.rss && (rss_.empty() || rss_.last_ns() <= mark.t_ns))
    rss_.add(mark.t_ns, *mark.sizes.rss);
}

void WatchedRole::take(MarkEvent event) {
  const Mark::Kind kind = event.mark.kind;
  const int round = event.mark.round;
  if (kind != Mark::Kind::gauge) sample_at(event.mark);
  if (trace_.marks.size() >= kMostMarks && !bounds_a_round(kind)) {
    if (running_) {
      ++marks_dropped_;
      return;
    }
    fold();
  }
  const bool ends_running = running_ && bounds_a_round(kind);
  MarkEvent begin;
  if (kind == Mark::Kind::round_begin) {
    begin = event;
    // Of the stretch that this mark ends.
    if (ends_running) begin.mark.sizes.peak.reset();
  }
  trace_.marks.push_back(std::move(event));
  if (ends_running) {
    fold();
    if (kind == Mark::Kind::round_begin) {
      sample_at(begin.mark);
      trace_.marks.push_back(std::move(begin));
    }
  }
  if (kind == Mark::Kind::round_begin) running_ = round;
  if (kind == Mark::Kind::round_end) running_.reset();
}

/// Turns the trace so far into rounds and metrics and begins the next one where it ends.
void WatchedRole::fold() {
  const bool has_round = marks_rounds(trace_);
  trace_.rss = rss_.series();
  RoleData data = role_metrics(trace_, sweeps_);
  // Without marks of rounds what there is counts as one round, which it is only at the very end.
  if (has_round) {
    has_rounds_ = true;
    add_rounds(data);
  }
  merge(data, false);
  trace_.begin_ns = end_of(trace_);
  trace_.earlier_peak_bytes = static_cast<std::int64_t>(metrics_.value(kPeakRss).value_or(0));
  trace_.marks.clear();
  sweeps_.clear();
  rss_ = ThinnedSeries("rss_bytes", kRoundPoints);
}

void WatchedRole::add_rounds(const RoleData& data) {
  for (const RoundData& round : data.rounds) {
    finished_.push_back(round);
    if (const auto rss = round.metrics.value(kEndRss))
      round_ends_.add({round.round, round.begin_ns, round.end_ns, *rss});
  }
}

RoleData WatchedRole::take_data(Series rss) {
  RoleData data;
  data.role = trace_.role;
  data.metrics = metrics_;
  data.declared = declared_;
  data.outside_rounds = outside_rounds_;
  data.peak_rss_is_sampled = peak_is_sampled_;
  data.rounds = std::exchange(finished_, {});
  if (!rss.t_ns.empty()) data.series.push_back(std::move(rss));
  if (!pss_.empty()) data.series.push_back(pss_.series());
  return data;
}

void WatchedRole::merge(const RoleData& data, bool is_last) {
  declared_.insert(data.declared.begin(), data.declared.end());
  merge_outside_rounds(data, is_last);
  for (const auto& [name, value] : data.metrics) {
    if (name == kIdleRss || name == kPeakRssAboveIdle) continue;
    const auto [known, is_new] = metrics_.emplace(name, value);
    if (!is_new) known->second = grows_only(name) ? std::max(known->second, value) : value;
  }
  if (knows_idle_) add_above_idle(data.metrics);
  peak_is_sampled_ = !is_last || data.peak_rss_is_sampled;
}

/// What each part of the trace takes for its start-up and for its end is between two rounds.
void WatchedRole::merge_outside_rounds(const RoleData& data, bool is_last) {
  for (OutsideRounds part : data.outside_rounds) {
    if (part.part == TrialPart::start_up && had_rounds_) part.part = TrialPart::between_rounds;
    if (part.part == TrialPart::after_rounds && !is_last) part.part = TrialPart::between_rounds;
    keep_largest(outside_rounds_, part);
  }
  const bool is_outside = !marks_rounds(trace_) && (has_rounds_ || !is_last);
  if (const auto peak = data.metrics.value(kPeakRss); is_outside && peak) {
    const TrialPart part = is_last       ? TrialPart::after_rounds
                           : had_rounds_ ? TrialPart::between_rounds
                                         : TrialPart::start_up;
    keep_largest(outside_rounds_,
                 {part, trace_.begin_ns, end_of(trace_), *peak, data.peak_rss_is_sampled});
  }
  had_rounds_ = has_rounds_;
}

/// A later trace takes its own first mark for the idle level; the first one's counts.
void WatchedRole::add_above_idle(const Metrics& metrics) {
  if (const auto first = metrics.value(kIdleRss)) metrics_.emplace(kIdleRss, *first);
  const auto idle = metrics_.value(kIdleRss);
  const auto peak = metrics_.value(kPeakRss);
  if (idle && peak) metrics_[kPeakRssAboveIdle] = *peak - *idle;
}

void WatchedRole::finish(const RoleEnd& end) {
  trace_.ended_well = end.well;
  trace_.exit = end.exit.value_or(ExitRecord{});
  trace_.exit->t_ns = std::max(end.t_ns, trace_.begin_ns);
  // Without its account there is nothing to add to what was sampled.
  trace_.outlived_its_process = !end.exit;
  const bool all_was_one_round = !has_rounds_ && !running_;
  trace_.rss = rss_.series();
  const RoleData data = role_metrics(trace_, sweeps_);
  if (running_ || all_was_one_round) add_rounds(data);
  merge(data, true);
  running_.reset();
}

}  // namespace memduel
