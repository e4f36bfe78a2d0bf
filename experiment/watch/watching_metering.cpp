// What a watch reads: RSS at every sample and mark, PSS now and then, how much of the limit is
// used.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "experiment/marks/monotonic.h"
#include "experiment/marks/seconds.h"
#include "experiment/watch/watching.h"

namespace memduel {
namespace {

std::int64_t own_cpu() {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

bool is_of_rounds(Mark::Kind kind) {
  return kind == Mark::Kind::idle || kind == Mark::Kind::round_begin ||
         kind == Mark::Kind::round_end;
}

void add_up(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (value) sum = sum.value_or(0) + *value;
}

}  // namespace

/// A program that starts is looked at more often, so that a short one is not known by the pages
/// that it had before its first instruction.
std::int64_t Watching::until_next_sample(std::int64_t now) const {
  constexpr std::int64_t kShortest = 10'000'000;
  const auto interval = static_cast<std::int64_t>(seconds_as_ns(options_.interval_seconds));
  return std::min(interval, std::max(now - begin_ns_, kShortest));
}

void Watching::sample(std::int64_t now) {
  sample_due_ns_ = std::max(sample_due_ns_ + until_next_sample(now), now);
  meter_.sample(now);
  std::optional<std::int64_t> sum;
  for (Root& root : roots_) {
    const auto rss = meter_.latest(root.role.role()).rss_bytes;
    if (root.ended || !rss) continue;
    root.role.sample(now, *rss);
    add_up(sum, rss);
  }
  if (!sum) return;
  ++samples_;
  whole_.sample(now, *sum);
  peak_rss_bytes_ = std::max(peak_rss_bytes_, *sum);
}

/// PSS of all, or where that costs more than its share of the time: later.
void Watching::sweep(std::int64_t now) {
  if (!sweeps_.affordable(now)) {
    sweep_was_late_ = true;
    return;
  }
  sweep_due_ns_ = now + static_cast<std::int64_t>(seconds_as_ns(options_.pss_interval_seconds));
  const std::int64_t before = own_cpu();
  PssSweep read{now, {}, true};
  double sum = 0;
  for (Root& root : roots_) {
    if (root.ended) continue;
    const Metrics values = meter_.read_costly(root.role.role());
    const auto pss = values.find("pss_bytes");
    read.complete = read.complete && pss != values.end();
    if (pss == values.end()) continue;
    read.bytes[root.role.role()] = pss->second;
    root.pss.add(now, static_cast<std::int64_t>(pss->second));
    sum += pss->second;
  }
  for (Root& root : roots_) {
    if (!root.ended) root.role.add_sweep(read);
  }
  if (read.complete && !read.bytes.empty()) {
    read.bytes["tree"] = sum;
    whole_.add_sweep(read);
    pss_bytes_ = static_cast<std::int64_t>(sum);
    pss_read_ns_ = now;
    whole_pss_.add(now, *pss_bytes_);
  } else if (samples_ > 0) {
    pss_missing_ = true;
  }
  sweeps_.spent(own_cpu() - before);
}

void Watching::check_limit() {
  if (!limit_) return;
  used_bytes_ = used_bytes_of(*limit_);
  if (!used_bytes_) return;
  const double share = static_cast<double>(*used_bytes_) / static_cast<double>(limit_->bytes);
  const auto level = alarm_.reached(share);
  if (!level) return;
  const bool critical = *level == MemoryLevel::critical;
  const auto round = whole_.running_round();
  const std::string sentence = fmt::format(
      "{}: {:.0f} % of the {} of {} are used{} after {}", critical ? "critical" : "warning",
      100 * share, format_bytes(static_cast<double>(limit_->bytes)),
      limit_->group.empty() ? "this machine" : "its control group",
      round ? fmt::format(", in round {},", *round) : "",
      format_seconds(static_cast<double>(monotonic_ns() - begin_ns_) * 1e-9));
  say(sentence);
  // A use that swings widely crosses a threshold in every round of a week.
  constexpr int kMostKept = 50;
  if (++alarms_ > kMostKept) return;
  store_.add_warning({critical ? "memory_critical" : "memory_warning", sentence,
                      critical ? "the kernel is about to end something"
                               : "see growth for how fast the rest goes"});
}

MeterReading Watching::counters_at(const Mark& mark, const std::string& role) {
  const std::int64_t now = monotonic_ns();
  if (!is_of_rounds(mark.kind) || !counters_.affordable(now)) return {};
  const std::int64_t before = own_cpu();
  MeterReading reading = meter_.read(role);
  counters_.spent(own_cpu() - before);
  return reading;
}

/// Through annotate.h: of the command, with the sizes that it read itself.
void Watching::take_marks() {
  Root& root = roots_.front();
  for (const Mark& mark : command_->marks.receive_marks()) {
    if (root.ended) break;
    if (mark.kind == Mark::Kind::start) {
      if (mark.no_reset) {
        root.role.no_peak_resets();
        whole_.no_peak_resets();
      }
      continue;
    }
    MarkSizes all = mark.sizes;
    const auto& members = tree_.members("command");
    // The process that marks knows only of itself.
    if (members.size() > 1 && is_of_rounds(mark.kind)) all = root.memory.read(members);
    const MeterReading reading = counters_at(mark, "command");
    root.role.take({mark, reading});
    give_whole(mark, all, reading);
  }
  if (command_->marks.closed())
    epoll_ctl(poll_.get(), EPOLL_CTL_DEL, command_->marks.descriptor(), nullptr);
  gather_rounds();
}

/// A line is about all that is watched: whose it is, it does not say.
void Watching::take_lines(const std::vector<MarkedLine>& lines) {
  for (const MarkedLine& line : lines) {
    const bool marks_itself = command_ && command_->marks.marking_pid != 0;
    if (marks_itself) text_marks_->pass_over(line.role);
    std::vector<MarkSizes> sizes;
    for (Root& root : roots_) {
      sizes.push_back(root.ended || marks_itself
                          ? MarkSizes{}
                          : root.memory.read(tree_.members(root.role.role())));
      if (!root.memory.peaks_reset()) {
        root.role.no_peak_resets();
        whole_.no_peak_resets();
      }
    }
    MarkSizes all = sizes.size() == 1 ? sizes.front() : MarkSizes{};
    if (sizes.size() > 1) {
      for (const MarkSizes& one : sizes) {
        add_up(all.rss, one.rss);
        add_up(all.anon, one.anon);
        add_up(all.file, one.file);
      }
    }
    const std::int64_t now = monotonic_ns();
    for (Mark mark : line.marks) {
      if (marks_itself && mark.kind != Mark::Kind::gauge) continue;
      mark.t_ns = now;
      for (std::size_t at = 0; at < roots_.size(); ++at) {
        if (!roots_[at].ended) give(roots_[at], mark, sizes[at]);
        sizes[at].peak.reset();  // of the stretch that the line's first mark ended
      }
      give_whole(mark, all, roots_.size() == 1 ? counters_at(mark, "command") : MeterReading{});
      all.peak.reset();
    }
  }
  gather_rounds();
}

void Watching::give(Root& root, const Mark& mark, const MarkSizes& sizes) {
  MarkEvent event{mark, counters_at(mark, root.role.role())};
  event.mark.sizes = sizes;
  root.role.take(std::move(event));
}

void Watching::give_whole(const Mark& mark, const MarkSizes& sizes, const MeterReading& reading) {
  MarkEvent event{mark, reading};
  event.mark.sizes = sizes;
  if (sizes.rss) peak_rss_bytes_ = std::max(peak_rss_bytes_, *sizes.rss);
  whole_.take(std::move(event));
}

/// Rounds that have ended go to the store at the next occasion.
void Watching::gather_rounds() {
  const auto move_to = [](std::vector<RoundData> from, std::vector<RoundData>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  };
  for (Root& root : roots_) move_to(root.role.take_rounds(), root.pending);
  std::vector<RoundData> rounds = whole_.take_rounds();
  for (const RoundData& round : rounds) {
    const auto rss = round.metrics.find("end_rss_bytes");
    if (rss != round.metrics.end())
      round_ends_.add({round.round, round.begin_ns, round.end_ns, rss->second});
  }
  move_to(std::move(rounds), whole_pending_);
}

}  // namespace memduel
