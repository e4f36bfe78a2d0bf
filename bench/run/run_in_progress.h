// A run while it goes on: what it is of, what the store holds of it, how far it is, and whether
// there is time for more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/run/driver.h"
#include "experiment/run/ledger.h"

namespace memduel {

/// The warning that --max-minutes ended a run.
inline constexpr const char* kOutOfTime = "out_of_time";

/// Thrown where a run has made as many trials as it was to make.
struct RunPaused {};

class RunInProgress {
 public:
  /// All three must outlive this.
  RunInProgress(const Experiment& experiment, Store& store, const DriverOptions& options);

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const DriverOptions& options() const { return options_; }
  [[nodiscard]] Store& store() const { return store_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] std::size_t arm_count() const { return experiment_.arms.size(); }

  /// What the store holds, read once for all who ask before it holds more.
  const RunData& so_far();

  /// Stores a trial and what is to be said about it. @param overhead_seconds what it took beyond
  /// its own time; absent where nothing surrounds it.
  void add(const TrialRun& run, std::optional<double> overhead_seconds);
  /// Stores what only all trials together tell.
  void note_the_whole();
  /// Stores that a block counts no more.
  void drop_block(int block);

  /// Trials that come after the last block.
  void expect_profiles(int trials) { profiles_expected_ = trials; }
  /// Throws Error(usage), with the minutes that would do, where no block was measured yet and the
  /// warm-up shows that max_minutes cannot hold fewest_blocks, or those that are planned, and
  /// `profile_rounds` more times every arm.
  void expect_time(int profile_rounds) const;
  /// Asks check_warmup where no block was measured yet.
  void expect_worthwhile_blocks();
  /// Whether no more is left of max_minutes than `profile_rounds` times every arm take.
  [[nodiscard]] bool is_out_of_time(int profile_rounds) const;
  /// Why a run that is out of time has ended after `blocks`.
  [[nodiscard]] Note out_of_time(int blocks) const;
  /// To be called before each. Throws Error(interrupted or terminated) where a stop was asked for,
  /// and RunPaused.
  void expect_another_trial() const;
  /// The end that a stop asks for, with how to go on.
  [[nodiscard]] Error stopped() const;
  /// Tells people what runs next; "" at the end.
  void tell(const std::string& arm, int block, const std::string& tracer = {}) const;

 private:
  /// How to go on with the run, under another max_minutes or without it.
  [[nodiscard]] std::string advice_to_resume(std::optional<double> minutes = std::nullopt) const;
  [[nodiscard]] double elapsed_seconds() const;
  [[nodiscard]] std::optional<double> block_seconds() const;
  [[nodiscard]] int total_trials() const;
  [[nodiscard]] std::optional<double> expected_disk_bytes() const;

  const Experiment& experiment_;
  Store& store_;
  const DriverOptions& options_;
  std::optional<RunData> so_far_;  ///< absent where the store has more
  Ledger ledger_;
  int profiles_expected_ = 0;
  std::optional<double> expected_disk_;
  std::chrono::steady_clock::time_point start_;
  int trials_here_ = 0;                      ///< since start_
  std::vector<double> sample_intervals_ms_;  ///< of the trials since start_
};

}  // namespace memduel
