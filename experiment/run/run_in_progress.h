// A run while it goes on: what it is of, what the store holds of it, how far it is, and whether
// there is time for more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "experiment/run/driver.h"
#include "experiment/run/ledger.h"

namespace memduel {

inline constexpr const char* kResumeAdvice = "continue with the same command and --resume";

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
  /// Stores that a block counts no more.
  void drop_block(int block);

  /// Trials that come after the last block.
  void expect_profiles(int trials) { profiles_expected_ = trials; }
  /// Whether so many more times every arm would end too late.
  [[nodiscard]] bool out_of_time(int times) const;
  /// To be called before each. Throws Error(interrupted or terminated) where a stop was asked for,
  /// and RunPaused.
  void expect_another_trial() const;
  /// Tells people what runs next; "" at the end.
  void tell(const std::string& arm, int block, const std::string& tracer = {}) const;

 private:
  [[nodiscard]] int total_trials() const;
  [[nodiscard]] std::optional<double> expected_disk_bytes() const;

  const Experiment& experiment_;
  Store& store_;
  const DriverOptions& options_;
  std::optional<RunData> so_far_;  ///< absent where the store has more
  Ledger ledger_;
  int profiles_expected_ = 0;
  std::optional<double> expected_disk_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int trials_here_ = 0;  ///< since start_
};

}  // namespace memduel
