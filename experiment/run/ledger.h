// What the store holds of a run's design, kept up to date while trials are added.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/run_data.h"

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
  /// Peaks of an arm's whole job, of every measured trial, in bytes of resident memory.
  [[nodiscard]] std::vector<double> job_peaks(const std::string& arm) const;
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

}  // namespace memduel
