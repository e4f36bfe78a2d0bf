#include "live_heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "checked_number.h"
#include "memduel/annotate.h"

namespace memduel {

void PeakTracker::restart(const Estimate& total) {
  waits_ = false;
  ++number_;
  rising_ = true;
  peak_ = total;
}

LiveSites PeakTracker::at_peak(const std::vector<Estimate>& current) const {
  LiveSites sites;
  for (std::uint32_t site = 0; site < current.size(); ++site) {
    const bool changed_since = !rising_ && site < folded_.size() && folded_[site].number == number_;
    const Estimate& amount = changed_since ? folded_[site].amount : current[site];
    if (amount.samples > 0) sites.emplace_back(site, amount);
  }
  return sites;
}

void TogetherPeak::change(Heap heap, std::uint32_t site, const Estimate& amount, bool falling) {
  const std::uint32_t place = 2 * site + (heap == Heap::mapped ? 1 : 0);
  ++changes_;
  if (place >= current_.size()) current_.resize(place + 1);
  tracker_.before_change(place, current_[place], falling);
  if (falling) {
    current_[place] -= amount;
    total_ -= amount;
    return;
  }
  current_[place] += amount;
  total_ += amount;
  if (total_.bytes > tracker_.peak().bytes) {
    peak_change_ = changes_;
    untouched_at_peak_.clear();
  }
  tracker_.after_change(total_);
}

double TogetherPeak::untouched_bytes() const {
  double bytes = 0;
  for (const auto& [site, untouched] : untouched_at_peak_) bytes += untouched;
  return bytes;
}

ProfilePeak TogetherPeak::peak(std::uint32_t first_mapping_site) const {
  ProfilePeak peak;
  for (auto [place, amount] : tracker_.at_peak(current_)) {
    const std::uint32_t site = place / 2;
    const bool is_mapping = place % 2 == 1;
    if (const auto untouched = untouched_at_peak_.find(site);
        is_mapping && untouched != untouched_at_peak_.end())
      amount.bytes = std::max(0.0, amount.bytes - untouched->second);
    peak.sites.emplace_back(site + (is_mapping ? first_mapping_site : 0), amount);
    peak.total += amount;
  }
  std::ranges::sort(peak.sites, {}, &std::pair<std::uint32_t, Estimate>::first);
  return peak;
}

std::uint32_t LiveHeap::site_of(const Birth& birth) {
  std::vector<std::uint32_t>& candidates = sites_by_stack_[birth.stack];
  for (auto candidate = candidates.rbegin(); candidate != candidates.rend(); ++candidate) {
    const AllocationSite& site = sites_[*candidate];
    if (site.round == birth.round && site.phase == birth.phase && site.thread == birth.thread)
      return *candidate;
  }
  const auto made = static_cast<std::uint32_t>(sites_.size());
  sites_.push_back({birth.stack, birth.round, birth.phase, birth.thread, heap_, {}, {}, {}});
  current_.emplace_back();
  candidates.push_back(made);
  return made;
}

void LiveHeap::change(std::uint32_t site, const Estimate& amount, bool falling) {
  for (PeakTracker* tracker : {&run_peak_, &round_peak_, &phase_peak_}) {
    tracker->before_change(site, current_[site], falling);
  }
  if (falling) {
    current_[site] -= amount;
    total_ -= amount;
    return;
  }
  current_[site] += amount;
  total_ += amount;
  for (PeakTracker* tracker : {&run_peak_, &round_peak_, &phase_peak_}) {
    tracker->after_change(total_);
  }
}

void LiveHeap::add(std::uint32_t site, const Estimate& amount) {
  change(site, amount, false);
  sites_[site].allocated += amount;
}

void LiveHeap::remove(std::uint32_t site, const Estimate& amount, bool temporary) {
  change(site, amount, true);
  if (temporary) sites_[site].temporary += amount;
}

void LiveHeap::put_back(std::uint32_t site, const Estimate& amount, bool temporary) {
  change(site, amount, false);
  if (temporary) sites_[site].temporary -= amount;
}

ProfilePeak LiveHeap::peak_of(const PeakTracker& tracker) const {
  ProfilePeak peak;
  peak.sites = tracker.at_peak(current_);
  // Summed anew: a running sum of differences gathers rounding.
  for (const auto& entry : peak.sites) peak.total += entry.second;
  return peak;
}

std::vector<RetentionCell> LiveHeap::survivors(int ending_round) const {
  std::map<int, RetentionCell> by_birth;
  for (std::uint32_t site = 0; site < current_.size(); ++site) {
    if (current_[site].samples == 0) continue;
    RetentionCell& cell = by_birth[sites_[site].round];
    cell.born = sites_[site].round;
    cell.end = ending_round;
    cell.total += current_[site];
    cell.sites.emplace_back(site, current_[site]);
  }
  std::vector<RetentionCell> cells;
  for (auto& entry : by_birth) cells.push_back(std::move(entry.second));
  return cells;
}

std::vector<AllocationSite> LiveHeap::finish() {
  for (std::uint32_t site = 0; site < sites_.size(); ++site) sites_[site].live = current_[site];
  return std::move(sites_);
}

std::uint32_t TraceRounds::phase_number(std::string_view name) {
  if (name.empty()) return 0;
  const auto known = phases_.find(name);
  if (known != phases_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(profile_.phases.size());
  profile_.phases.emplace_back(name);
  phases_.emplace(name, number);
  return number;
}

void TraceRounds::end_phase(std::int64_t now) {
  if (phase_ == 0) return;
  ProfilePeak peak = heap_.phase_peak();
  peak.round = round_;
  peak.phase = phase_;
  peak.begin_ns = phase_begin_ns_;
  peak.end_ns = now;
  profile_.phase_peaks.push_back(std::move(peak));
  phase_ = 0;
}

void TraceRounds::end_round(std::int64_t now) {
  end_phase(now);
  if (round_ == 0) return;
  ProfilePeak peak = heap_.round_peak();
  peak.round = round_;
  peak.begin_ns = round_begin_ns_;
  peak.end_ns = now;
  profile_.round_peaks.push_back(std::move(peak));
  if (now != 0) {
    for (RetentionCell& cell : heap_.survivors(round_)) {
      profile_.retention.push_back(std::move(cell));
    }
  }
  round_ = 0;
}

void TraceRounds::take(const recorder::events::Mark& mark) {
  const auto now = checked_number<std::int64_t>(mark.time_ns, "time");
  ++stretch_;
  if (mark.kind == MEMDUEL_MARK_ROUND_BEGIN) {
    if (mark.round < 1 || mark.round > std::numeric_limits<int>::max()) {
      throw std::out_of_range(fmt::format("round {}", mark.round));
    }
    end_round(now);
    round_ = static_cast<int>(mark.round);
    round_begin_ns_ = now;
    heap_.begin_round();
  } else if (mark.kind == MEMDUEL_MARK_ROUND_END) {
    end_round(now);
  } else if (mark.kind == MEMDUEL_MARK_PHASE) {
    end_phase(now);
    phase_ = phase_number(mark.phase);
    phase_begin_ns_ = now;
    heap_.begin_phase();
  }
}

}  // namespace memduel
