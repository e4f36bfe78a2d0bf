#include "watch_metering.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/metric_catalogue.h"
#include "trial/processes.h"
#include "trial/trial_plan.h"
#include "util/text.h"

namespace memduel {
namespace {

/// Of each series in the store; a day at a second is 86,400.
constexpr std::size_t kSeriesPoints = 8192;
/// Of PSS, which is read once a minute.
constexpr std::size_t kPssPoints = 2048;
constexpr std::size_t kShownRounds = 128;

std::int64_t own_cpu() {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

bool is_of_rounds(const Mark& mark) {
  return mark.kind == Mark::Kind::idle || mark.kind == Mark::Kind::round_begin ||
         mark.kind == Mark::Kind::round_end;
}

void add_up(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (value) sum = sum.value_or(0) + *value;
}

/// Without a peak: those of several are not of one moment.
MarkSizes together(const std::vector<MarkSizes>& sizes) {
  if (sizes.size() == 1) return sizes.front();
  MarkSizes all;
  for (const MarkSizes& one : sizes) {
    add_up(all.rss, one.rss);
    add_up(all.anon, one.anon);
    add_up(all.file, one.file);
  }
  return all;
}

/// A program that has just been started holds nothing yet.
std::int64_t first_sweep_after(const WatchOptions& options) {
  constexpr double kStartUpSeconds = 5;
  return options.command.empty()
             ? 0
             : whole_ns(std::min(kStartUpSeconds, options.pss_interval_seconds));
}

/// A program that starts is looked at more often, so that a short one is not known by the pages
/// that it had before its first instruction.
std::int64_t until_next_sample(const WatchOptions& options, std::int64_t elapsed_ns) {
  constexpr std::int64_t kShortest = 10'000'000;
  return std::min(whole_ns(options.interval_seconds), std::max(elapsed_ns, kShortest));
}

void move_to(std::vector<RoundData> from, std::vector<RoundData>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

WatchMetering::WatchMetering(const WatchOptions& options, WatchedRoots& roots,
                             std::function<std::int64_t()> clock)
    : options_(options),
      roots_(roots),
      clock_(std::move(clock)),
      begin_ns_(clock_()),
      meter_(kSeriesPoints),
      whole_(kTree, begin_ns_, options.pids.empty()),
      whole_pss_("pss_bytes", kPssPoints),
      round_ends_(kShownRounds),
      sweeps_(begin_ns_, false),
      counters_(begin_ns_, false),
      sample_due_ns_(begin_ns_),
      sweep_due_ns_(begin_ns_ + first_sweep_after(options)) {}

void WatchMetering::add(const std::vector<Member>& members) {
  for (const Member& member : members) {
    meter_.add(member.role, member.pid);
    whole_.has_several_processes();
  }
}

void WatchMetering::sample(std::int64_t now_ns) {
  if (now_ns < sample_due_ns_) return;
  sample_due_ns_ =
      std::max(sample_due_ns_ + until_next_sample(options_, now_ns - begin_ns_), now_ns);
  meter_.sample(now_ns);
  std::optional<std::int64_t> sum;
  for (WatchedRoot& root : roots_.all()) {
    const auto rss = meter_.latest(root.role.role()).rss_bytes;
    if (root.ended || !rss) continue;
    root.role.sample(now_ns, *rss);
    add_up(sum, rss);
  }
  if (!sum) return;
  ++samples_;
  whole_.sample(now_ns, *sum);
  peak_rss_bytes_ = std::max(peak_rss_bytes_, *sum);
}

void WatchMetering::sweep(std::int64_t now_ns) {
  if (now_ns < sweep_due_ns_) return;
  if (!sweeps_.affordable(now_ns)) {
    sweep_was_late_ = true;
    return;
  }
  sweep_due_ns_ = now_ns + whole_ns(options_.pss_interval_seconds);
  const std::int64_t before = own_cpu();
  PssSweep read{now_ns, {}, true};
  double sum = 0;
  for (WatchedRoot& root : roots_.all()) {
    if (root.ended) continue;
    const Metrics values = meter_.read_costly(root.role.role());
    const auto pss = values.find("pss_bytes");
    read.complete = read.complete && pss != values.end();
    if (pss == values.end()) continue;
    read.bytes[root.role.role()] = pss->second;
    root.pss.add(now_ns, static_cast<std::int64_t>(pss->second));
    sum += pss->second;
  }
  for (WatchedRoot& root : roots_.all()) {
    if (!root.ended) root.role.add_sweep(read);
  }
  if (read.complete && !read.bytes.empty()) {
    read.bytes[kTree] = sum;
    whole_.add_sweep(read);
    pss_bytes_ = static_cast<std::int64_t>(sum);
    if (*pss_bytes_ >= peak_pss_bytes_) {
      peak_pss_bytes_ = *pss_bytes_;
      rss_at_peak_pss_bytes_ = rss_now();
    }
    pss_read_ns_ = now_ns;
    whole_pss_.add(now_ns, *pss_bytes_);
  } else if (samples_ > 0) {
    pss_missing_ = true;
  }
  sweeps_.spent(own_cpu() - before);
}

std::optional<std::int64_t> WatchMetering::rss_now() const {
  std::optional<std::int64_t> sum;
  for (const WatchedRoot& root : roots_.all())
    if (!root.ended) add_up(sum, meter_.latest(root.role.role()).rss_bytes);
  return sum;
}

MeterReading WatchMetering::counters_at(const Mark& mark, const std::string& role) {
  if (!is_of_rounds(mark) || !counters_.affordable(clock_())) return {};
  const std::int64_t before = own_cpu();
  MeterReading reading = meter_.read(role);
  counters_.spent(own_cpu() - before);
  return reading;
}

void WatchMetering::take_marks(WatchedRoot& root, RoleMarks& marks) {
  const std::string& role = root.role.role();
  for (const Mark& mark : marks.receive_marks()) {
    if (root.ended) break;
    if (mark.kind == Mark::Kind::start) {
      if (mark.no_reset) {
        root.role.no_peak_resets();
        whole_.no_peak_resets();
      }
      continue;
    }
    MarkSizes all = mark.sizes;
    const auto& members = roots_.members(role);
    // The process that marks knows only of itself.
    if (members.size() > 1 && is_of_rounds(mark)) all = root.memory.read(members);
    const MeterReading reading = counters_at(mark, role);
    root.role.take({mark, reading});
    give_whole({mark, reading}, all);
  }
  gather_rounds();
}

void WatchMetering::take_peak_resets(WatchedRoot& root) {
  if (root.memory.peaks_reset()) return;
  root.role.no_peak_resets();
  whole_.no_peak_resets();
}

void WatchMetering::take_lines(const std::vector<MarkedLine>& lines, bool gauges_only) {
  std::deque<WatchedRoot>& roots = roots_.all();
  for (std::size_t line_at = 0; line_at < lines.size(); ++line_at) {
    const MarkedLine& line = lines[line_at];
    std::vector<MarkSizes> sizes;
    for (WatchedRoot& root : roots) {
      sizes.push_back(root.ended || gauges_only
                          ? MarkSizes{}
                          : root.memory.read(roots_.members(root.role.role())));
      take_peak_resets(root);
      if (is_overtaken(lines, line_at)) sizes.back() = MarkSizes{sizes.back().peak, {}, {}, {}};
    }
    MarkSizes all = together(sizes);
    const std::int64_t now = clock_();
    for (Mark mark : line.marks) {
      if (gauges_only && mark.kind != Mark::Kind::gauge) continue;
      mark.t_ns = now;
      for (std::size_t at = 0; at < roots.size(); ++at) {
        if (!roots[at].ended) give(roots[at], mark, sizes[at]);
        sizes[at].peak.reset();  // of the stretch that the line's first mark ended
      }
      give_whole(
          {mark, roots.size() == 1 ? counters_at(mark, roots.front().role.role()) : MeterReading{},
           true},
          all);
      all.peak.reset();
    }
  }
  gather_rounds();
}

void WatchMetering::give(WatchedRoot& root, const Mark& mark, const MarkSizes& sizes) {
  MarkEvent event{mark, counters_at(mark, root.role.role()), true};
  event.mark.sizes = sizes;
  root.role.take(std::move(event));
}

void WatchMetering::give_whole(MarkEvent event, const MarkSizes& sizes) {
  event.mark.sizes = sizes;
  if (sizes.rss) peak_rss_bytes_ = std::max(peak_rss_bytes_, *sizes.rss);
  whole_.take(std::move(event));
}

void WatchMetering::finish(WatchedRoot& root, const RoleEnd& end) {
  root.role.finish(end);
  gather_rounds();
}

void WatchMetering::finish(const RoleEnd& end) {
  whole_.finish(end);
  gather_rounds();
}

/// Rounds that have ended go to the store at the next occasion.
void WatchMetering::gather_rounds() {
  for (WatchedRoot& root : roots_.all()) move_to(root.role.take_rounds(), root.pending);
  std::vector<RoundData> rounds = whole_.take_rounds();
  for (const RoundData& round : rounds)
    if (const auto rss = round.metrics.value(kEndRss))
      round_ends_.add({round.round, round.begin_ns, round.end_ns, *rss});
  move_to(std::move(rounds), whole_pending_);
}

WatchSnapshot WatchMetering::snapshot(std::int64_t now_ns) const {
  WatchSnapshot shot;
  for (const WatchedRoot& root : std::as_const(roots_).all()) {
    if (root.ended) continue;
    const ProcfsMeter::Latest latest = meter_.latest(root.role.role());
    shot.processes += latest.processes;
  }
  shot.rss_bytes = rss_now();
  shot.samples = samples_;
  if (samples_ > 0)
    shot.peak_rss_bytes = std::max(
        peak_rss_bytes_, static_cast<std::int64_t>(whole_.metrics().value(kPeakRss).value_or(0)));
  shot.pss_bytes = pss_bytes_;
  if (pss_bytes_) {
    shot.peak_pss_bytes = peak_pss_bytes_;
    shot.rss_at_peak_pss_bytes = rss_at_peak_pss_bytes_;
  }
  shot.pss_age_seconds = static_cast<double>(now_ns - pss_read_ns_) * 1e-9;
  shot.running_round = whole_.running_round();
  shot.rounds_ended = round_ends_.count();
  shot.round_ends = round_ends_.kept();
  shot.rss = meter_.series_of(kTree);
  return shot;
}

RoleData WatchMetering::role_data(const WatchedRole& role, const ThinnedSeries& pss,
                                  std::vector<RoundData>& pending) const {
  RoleData data;
  data.role = role.role();
  data.metrics = role.metrics();
  data.declared = role.declared();
  data.outside_rounds = role.outside_rounds();
  data.peak_rss_is_sampled = role.peak_is_sampled();
  data.rounds = std::exchange(pending, {});
  Series rss = meter_.series_of(role.role());
  if (!rss.t_ns.empty()) data.series.push_back(std::move(rss));
  if (!pss.empty()) data.series.push_back(pss.series());
  return data;
}

std::vector<RoleData> WatchMetering::take_roles() {
  std::vector<RoleData> roles;
  for (WatchedRoot& root : roots_.all()) {
    roles.push_back(role_data(root.role, root.pss, root.pending));
    if (!root.exit) continue;
    roles.back().exit_status = root.exit->status;
    roles.back().exit_signal = root.exit->signal;
  }
  roles.push_back(role_data(whole_, whole_pss_, whole_pending_));
  return roles;
}

std::vector<Note> WatchMetering::limitations() const {
  std::vector<Note> notes;
  if (!round_ends_.count() && !whole_.marks_dropped())
    notes.push_back({kPeaksSampledFromOutside,
                     fmt::format("no round ended: one round, with peaks sampled each {}",
                                 format_seconds(options_.interval_seconds)),
                     "mark rounds with memduel/annotate.h, or name them with --round-pattern"});
  if (pss_missing_)
    notes.push_back({"pss_not_readable",
                     "PSS could not be read of every process: they are of another user, or ended "
                     "meanwhile",
                     "watch as their user or as root"});
  if (sweep_was_late_)
    notes.push_back({"pss_rationed",
                     "PSS was read more rarely than asked for, to keep its cost below 0.15 % of a "
                     "CPU",
                     ""});
  return notes;
}

std::vector<Note> WatchMetering::warnings() const {
  if (whole_.marks_dropped() == 0) return {};
  return {{"marks_dropped",
           fmt::format("{} phases and gauges of rounds with more than 10000 of them were left out",
                       whole_.marks_dropped()),
           "mark less often"}};
}

LimitWatch::LimitWatch(const WatchOptions& options, std::optional<MemoryLimit> limit)
    : options_(options),
      limit_(std::move(limit)),
      alarm_(options.warn_ratio, options.critical_ratio) {}

std::string LimitWatch::of_whom() const {
  return limit_->group.empty() ? "this machine" : "its control group";
}

std::optional<Note> LimitWatch::check(std::optional<int> round, double elapsed_seconds) {
  if (!limit_) return std::nullopt;
  used_bytes_ = used_bytes_of(*limit_);
  if (!used_bytes_) return std::nullopt;
  const double share = static_cast<double>(*used_bytes_) / static_cast<double>(limit_->bytes);
  const auto level = alarm_.reached(share);
  if (!level) return std::nullopt;
  const bool critical = *level == MemoryLevel::critical;
  return Note{
      critical ? "memory_critical" : "memory_warning",
      fmt::format(
          "{}: {:.0f} % of the {} of {} are used{} after {}", critical ? "critical" : "warning",
          100 * share, format_bytes(static_cast<double>(limit_->bytes)), of_whom(),
          round ? fmt::format(", in round {},", *round) : "", format_seconds(elapsed_seconds)),
      critical ? "the kernel is about to end something" : "see growth for how fast the rest goes"};
}

std::optional<WatchSnapshot::Limit> LimitWatch::state() const {
  if (!limit_ || !used_bytes_) return std::nullopt;
  return WatchSnapshot::Limit{of_whom(), static_cast<double>(limit_->bytes),
                              static_cast<double>(*used_bytes_), options_.warn_ratio,
                              options_.critical_ratio};
}

std::optional<Note> LimitWatch::limitation() const {
  if (!limit_)
    return Note{"no_memory_limit", "no memory limit could be read",
                "thresholds and projections are left out"};
  if (limit_->group.empty())
    return Note{"no_group_limit",
                "no control group of what was watched limits its memory: shares are those of the "
                "whole machine",
                ""};
  return std::nullopt;
}

}  // namespace memduel
