// The blocks of a run: a warm-up of every arm, then every arm once in random order, superblock by
// superblock.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/statistics/trial_order.h"
#include "experiment/run/trial_runner.h"

namespace memduel {

class BlockTrials {
 public:
  /// Both must outlive this.
  BlockTrials(RunInProgress& run, TrialRunner& runner) : run_(run), runner_(runner) {}

  /// The baseline first, and once more where it fails: without it nothing can be said, and a job
  /// that hangs takes its whole deadline each time.
  void run_warmup();
  /// Until the design ends, time does, or nothing is undecided any more. @param profile_rounds how
  /// many times every arm is to run afterwards. Throws Error(cannot_measure) where the baseline
  /// fails in every trial, or the harness keeps failing, Error(usage) where there is too little
  /// time for any decision.
  RunOutcome run_blocks(int profile_rounds);

 private:
  [[nodiscard]] SuperblockRange own_superblocks() const;
  [[nodiscard]] TrialOrder order_of(int superblock, int missing) const;
  int run_places(int first, const std::vector<std::size_t>& order);
  void run_place(int block, std::size_t position, std::size_t arm);
  int count_whole(int first, int count);
  [[nodiscard]] bool may_stop(int block) const;
  [[nodiscard]] bool baseline_never_worked() const;
  [[noreturn]] void refuse_baseline() const;

  RunInProgress& run_;
  TrialRunner& runner_;
};

}  // namespace memduel
