// Ends of rounds for the eye: however many there are, a few evenly spaced ones are kept. The store
// has them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/growth/observations.h"

namespace memduel {

class WatchedRounds {
 public:
  /// @param most at least 2.
  explicit WatchedRounds(std::size_t most) : most_(most) {}

  void add(const RoundEnd& end) {
    if (count_++ % every_ != 0) return;
    kept_.push_back(end);
    if (kept_.size() < most_) return;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < kept_.size(); at += 2) kept_[kept++] = kept_[at];
    kept_.resize(kept);
    every_ *= 2;
  }

  [[nodiscard]] const std::vector<RoundEnd>& kept() const { return kept_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  std::size_t most_;
  std::vector<RoundEnd> kept_;
  std::int64_t count_ = 0;
  std::int64_t every_ = 1;
};

}  // namespace memduel
