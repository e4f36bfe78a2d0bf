// A heap of which every block was recorded, replayed: how it grew (Timeline, in a bounded number of
// moments however long the run was), what is live, what was live at the peak. The peak is composed
// as PeakTracker (profile/decode/live_heap.h) does it, in whole numbers and for the one peak that a
// foreign trace has, because such a trace has hundreds of thousands of stacks.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace memduel {

class Timeline {
 public:
  /// Of neighbours that fall together the one with more bytes stays, so that no peak is lost.
  void add(const ProfileMoment& moment);
  [[nodiscard]] const std::vector<ProfileMoment>& moments() const { return moments_; }

 private:
  std::vector<ProfileMoment> moments_;
  std::size_t stride_ = 1;    ///< how many moments each one stands for
  std::size_t gathered_ = 0;  ///< by the last one
};

Estimate exact_amount(std::uint64_t bytes, std::uint64_t count);

class ExactHeap {
 public:
  void add(std::uint32_t site, std::uint64_t bytes);
  /// False, and nothing happens, when no such block is live at the site.
  bool remove(std::uint32_t site, std::uint64_t bytes, bool temporary);

  [[nodiscard]] std::uint64_t live_bytes() const { return live_; }

  /// Fills the amounts of the profile's sites, and its peak. Ends the heap.
  void finish(Profile& profile) const;

 private:
  struct Amount {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };
  struct Site {
    Amount live;
    Amount at_peak;          ///< when `peak` was the running peak's number
    std::uint64_t peak = 0;  ///< the number of the last peak that this site knows of
    Amount allocated;
    Amount temporary;
  };

  void fold(Site& site);

  std::vector<Site> sites_;
  std::uint64_t live_ = 0;
  std::uint64_t peak_ = 0;
  std::uint64_t peak_number_ = 0;
  bool rising_ = true;
};

}  // namespace memduel
