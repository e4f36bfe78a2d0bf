// The outside meters of one trial, looked at as often as their cost allows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiment/contract/trial_plan.h"
#include "experiment/contract/trial_trace.h"
#include "experiment/trial/pace.h"
#include "profilers/meters/meter.h"

namespace memduel {

class TrialMeters {
 public:
  /// Makes the plan's outside meters. Throws Error(usage) for a name that is no meter.
  explicit TrialMeters(const TrialPlan& plan);

  void add(const std::string& role, pid_t pid);

  /// When the next sample is due; INT64_MAX without meters.
  /// While resting, nothing is sampled or read.
  void rest(bool resting) { resting_ = resting; }
  [[nodiscard]] std::int64_t due_ns() const;
  /// Samples every role when it is time to.
  void sample(std::int64_t now_ns);

  MeterReading read(const std::string& role);

  enum class Need { if_affordable, must };
  /// PSS of `roles`, one after the other.
  /// @param all_roles whether these are all roles of the trial: only then their sum is the tree's.
  void sweep(const std::vector<std::string>& roles, bool all_roles, Need need);
  [[nodiscard]] int skipped_sweeps() const { return skipped_sweeps_; }

  /// Hands the sweeps and the sampled series over.
  void collect(TrialTrace& trace) const;
  /// CPU time of memduel since this was made.
  [[nodiscard]] double cpu_seconds() const;

 private:
  [[nodiscard]] std::int64_t cpu_ns() const;

  std::vector<std::unique_ptr<Meter>> meters_;
  std::int64_t begin_cpu_ns_;
  SamplingPace pace_;
  CostlyReadings costly_;
  std::vector<PssSweep> sweeps_;
  std::int64_t due_ns_ = 0;
  bool resting_ = false;
  int skipped_sweeps_ = 0;
};

}  // namespace memduel
