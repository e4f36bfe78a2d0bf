// One heap replayed: who is live, where the peaks of the run and of rounds and phases are, what
// survived which round.
//
// PeakTracker keeps the composition of the largest total so far without a copy of everything at
// each new maximum (after memray's HighWaterMarkAggregator): a maximum is real only when the total
// falls after it, so a peak is numbered at the falling edge, and each site folds its amount lazily
// when it next changes. O(1) per change, memory in the number of sites.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/profile.h"
#include "profile/recorded_files.h"

namespace memduel {

class PeakTracker {
 public:
  /// One that waits for its first stretch of time knows no peak, and costs nothing.
  explicit PeakTracker(bool waits = false) : waits_(waits) {}

  /// A new stretch of time begins; what is live now is its first candidate.
  void restart(const Estimate& total);

  /// Before site `site`, which holds `current`, changes.
  void before_change(std::uint32_t site, const Estimate& current, bool falling) {
    if (waits_) return;
    if (falling && rising_) {
      ++number_;
      rising_ = false;
    }
    if (site >= folded_.size()) folded_.resize(site + 1);
    Folded& folded = folded_[site];
    if (folded.number != number_) folded = {number_, current};
  }
  /// After the change; `total` is over all sites.
  void after_change(const Estimate& total) {
    if (waits_ || total.bytes <= peak_.bytes) return;
    peak_ = total;
    rising_ = true;
  }

  [[nodiscard]] const Estimate& peak() const { return peak_; }

  /// What was live at the peak; `current` holds what is live now, by site.
  [[nodiscard]] LiveSites at_peak(const std::vector<Estimate>& current) const;

 private:
  struct Folded {
    std::uint64_t number = 0;
    Estimate amount;
  };
  std::vector<Folded> folded_;
  std::uint64_t number_ = 1;
  bool rising_ = true;
  bool waits_;
  Estimate peak_;
};

/// Where and when a block was born.
struct Birth {
  std::uint32_t stack = 0;
  int round = 0;
  std::uint32_t phase = 0;
  std::uint32_t thread = 0;
};

/// The largest sum of both heaps so far, and what they were made of then. Of the mapping heap an
/// amount is what counts of it, which may be less than is mapped.
class TogetherPeak {
 public:
  void change(Heap heap, std::uint32_t site, const Estimate& amount, bool falling);
  /// How many changes there were, and which of them made the largest sum.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] std::uint64_t peak_change() const { return peak_change_; }
  /// Of what a site of the mapping heap had at the peak, `bytes` were untouched. The sums before
  /// and after keep them, so that they are of one kind.
  void leave_out(std::uint32_t site, double bytes) { untouched_at_peak_[site] += bytes; }
  /// What leave_out left out of the peak.
  [[nodiscard]] double untouched_bytes() const;
  /// Sites of the mapping heap are numbered from `first_mapping_site` on.
  [[nodiscard]] ProfilePeak peak(std::uint32_t first_mapping_site) const;

 private:
  std::vector<Estimate> current_;  ///< of malloc's sites at even places, of mappings' at odd ones
  Estimate total_;
  PeakTracker tracker_;
  std::uint64_t changes_ = 0;
  std::uint64_t peak_change_ = 0;
  std::unordered_map<std::uint32_t, double> untouched_at_peak_;
};

/// Keeps sites, amounts and peaks of one heap. Blocks are the caller's.
class LiveHeap {
 public:
  explicit LiveHeap(Heap heap) : heap_(heap) {}

  /// The site of a birth, made when new.
  std::uint32_t site_of(const Birth& birth);
  [[nodiscard]] std::uint32_t thread_of(std::uint32_t site) const { return sites_[site].thread; }
  void add(std::uint32_t site, const Estimate& amount);
  /// `temporary`: by the thread of its birth, with no mark since.
  void remove(std::uint32_t site, const Estimate& amount, bool temporary);
  /// Takes back what remove did.
  void put_back(std::uint32_t site, const Estimate& amount, bool temporary);

  void begin_round() { round_peak_.restart(total_); }
  void begin_phase() { phase_peak_.restart(total_); }
  [[nodiscard]] ProfilePeak run_peak() const { return peak_of(run_peak_); }
  [[nodiscard]] ProfilePeak round_peak() const { return peak_of(round_peak_); }
  [[nodiscard]] ProfilePeak phase_peak() const { return peak_of(phase_peak_); }

  /// What is live now, in cells by birth round.
  [[nodiscard]] std::vector<RetentionCell> survivors(int ending_round) const;

  /// The sites with their final amounts. Ends the heap.
  std::vector<AllocationSite> finish();

 private:
  [[nodiscard]] ProfilePeak peak_of(const PeakTracker& tracker) const;
  void change(std::uint32_t site, const Estimate& amount, bool falling);

  Heap heap_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> sites_by_stack_;
  std::vector<AllocationSite> sites_;
  std::vector<Estimate> current_;
  Estimate total_;
  PeakTracker run_peak_;
  PeakTracker round_peak_{true};
  PeakTracker phase_peak_{true};
};

class TraceRounds {
 public:
  /// Phases, peaks and what rounds leave behind go to `profile`; `heap` knows the peaks. Both must
  /// outlive this.
  TraceRounds(Profile& profile, LiveHeap& heap) : profile_(profile), heap_(heap) {}

  /// Throws std::out_of_range where the mark makes no sense.
  void take(const recorder::events::Mark& mark);
  /// The trace ends here: a round that runs is whole as far as it goes.
  void finish() { end_round(0); }

  /// 0 for no name.
  std::uint32_t phase_number(std::string_view name);
  [[nodiscard]] int round() const { return round_; }
  [[nodiscard]] std::uint32_t phase() const { return phase_; }
  /// Between two marks, counted from 0.
  [[nodiscard]] std::uint32_t stretch() const { return stretch_; }

 private:
  void end_phase(std::int64_t now);
  void end_round(std::int64_t now);

  Profile& profile_;
  LiveHeap& heap_;
  std::map<std::string, std::uint32_t, std::less<>> phases_;
  int round_ = 0;
  std::int64_t round_begin_ns_ = 0;
  std::uint32_t phase_ = 0;
  std::int64_t phase_begin_ns_ = 0;
  std::uint32_t stretch_ = 0;
};

}  // namespace memduel
