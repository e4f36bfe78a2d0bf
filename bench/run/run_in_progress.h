// A run while it goes on: what it is of, what the store holds of it, how far it is, whether there
// is time for more; and its trials, run one after the other and stored with what each left.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/run_data.h"
#include "run/plan.h"
#include "run/run.h"
#include "util/error.h"
#include "verdict/so_far.h"

namespace memduel {

class Ledger {
 public:
  explicit Ledger(const RunData& run);

  void add(const TrialData& trial);
  /// Time that went into the trial just added beyond its own: prepare, cleanup, keeping files.
  void add_overhead(double seconds);

  struct Outcome {
    int ok = 0;
    int ok_warmups = 0;
    int failed = 0;
    std::string failure;       ///< of the last one
    bool file_failed = false;  ///< a role of the last one ended with memduel's status for files
  };

  [[nodiscard]] int warmups(const std::string& arm) const;
  [[nodiscard]] bool has(int block, const std::string& arm) const;
  [[nodiscard]] int profiles(const std::string& arm, const std::string& tracer) const;
  /// The most that any trial made; absent when nothing counted them.
  [[nodiscard]] std::optional<double> allocations() const { return allocations_; }
  /// Of the roles of an arm, the least that any measured trial had at its peak, in bytes of
  /// resident memory; of a role with several processes, that its largest process had.
  [[nodiscard]] std::map<std::string, double> peaks(const std::string& arm) const;
  [[nodiscard]] bool is_dropped(int block) const { return dropped_.contains(block); }
  [[nodiscard]] std::size_t dropped() const { return dropped_.size(); }
  [[nodiscard]] std::int64_t next_id() const { return next_id_; }
  [[nodiscard]] int last_block() const { return last_block_; }
  [[nodiscard]] int trials() const { return trials_; }
  [[nodiscard]] Outcome outcome(const std::string& arm) const;
  /// What a trial takes, with what surrounds it; absent before the first.
  [[nodiscard]] std::optional<double> trial_seconds() const;

 private:
  void count_allocations(const TrialData& trial);
  void note_peaks(const TrialData& trial);

  std::int64_t next_id_ = 1;
  int last_block_ = -1;
  int trials_ = 0;
  double seconds_ = 0;
  int overheads_ = 0;
  double overhead_seconds_ = 0;
  std::map<int, std::set<std::string>> arms_done_;
  std::map<std::string, int> warmups_;                           ///< by arm, failed ones too
  std::map<std::pair<std::string, std::string>, int> profiles_;  ///< by arm and tracer
  std::optional<double> allocations_;
  std::map<std::string, std::map<std::string, std::vector<double>>> peaks_;  ///< by arm and role
  std::set<int> dropped_;
  std::map<std::string, Outcome> outcomes_;
};

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
  [[nodiscard]] std::size_t arm_count() const { return experiment_.variants.size(); }

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
  void tell(const std::string& arm, int block, const std::string& tracer = {});

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
  SoFar change_so_far_;
  std::vector<ChangeSoFar> changes_;     ///< when the block below began
  std::optional<int> estimated_before_;  ///< block
  int profiles_expected_ = 0;
  std::optional<double> expected_disk_;
  std::chrono::steady_clock::time_point start_;
  int trials_here_ = 0;                      ///< since start_
  std::vector<double> sample_intervals_ms_;  ///< of the trials since start_
};

/// One warning for each role and level, naming the rounds, from the gauges of
/// model/include/model/metric_catalogue.h. Takes them out of the roles' own metrics, where they
/// would be compared; the rounds keep them.
std::vector<Note> take_memory_warnings(TrialData& trial);

class TrialRunner {
 public:
  /// Both must outlive this. Makes the directory of the logs. Throws Error(io) where that fails.
  TrialRunner(RunInProgress& run, const RunTrial& run_trial);

  /// Under the next number. Once more, without the recorder, where that is what it died of: the
  /// other arms run as this one did then. Throws Error(io) for input that no trial can read, else
  /// what run_whole_trial throws.
  void run(TrialSlot slot);

  [[nodiscard]] const PlanSite& site() const { return site_; }

 private:
  void refuse_unreadable_input(const TrialRun& trial) const;
  void refuse_unmarked_rounds(const TrialRun& trial) const;
  void keep_profiles_of(const TrialPlan& plan, TrialRun& trial) const;

  RunInProgress& run_;
  const RunTrial& run_trial_;
  PlanSite site_;
};

}  // namespace memduel
