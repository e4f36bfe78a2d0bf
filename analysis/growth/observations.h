// A run as the statistics see it: one number per trial, role and metric, with the roles and metrics
// that are derived from what was measured.
//
// Derived roles: NAME_max and NAME_median over the members of each group in a trial, round by round
// for rounds and value by value for metrics; a value that one member lacks is absent. Idle and peak
// above idle of NAME_max are of the member with the largest peak, so that their sum is the peak;
// those of NAME_median are idle's median and the difference from the peak's. Derived
// metrics: the growth of end_rss_bytes per round and per minute (Theil-Sen after warm-up), of a
// role that ends no rounds that of its samples per minute, and for a metric that is only known per
// round its maximum (peaks), sum (counts, CPU time), median (round_seconds and other durations)
// or last value (all others).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/run_data.h"

namespace memduel {

/// The resident set at the end of a round.
struct RoundEnd {
  int round = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double rss_bytes = 0;
  std::optional<double> heap_bytes = std::nullopt;  ///< live at the end of the round
  std::optional<double> file_bytes = std::nullopt;  ///< of rss_bytes: pages of mapped files
};

struct Observation {
  std::int64_t trial_id = 0;
  int block = 0;
  int position = 0;
  TrialStatus status = TrialStatus::ok;
  std::string failure;
  std::map<std::string, Metrics> roles;
  std::map<std::string, std::vector<RoundEnd>> round_ends;  ///< rounds that have end_rss_bytes
  /// Of roles without such rounds: see time_windows.h.
  std::map<std::string, std::vector<RoundEnd>> time_windows;
};

struct ArmObservations {
  std::string arm;
  std::vector<Observation> trials;  ///< measure trials of whole blocks, ascending in block
};

struct Observations {
  std::vector<ArmObservations> arms;  ///< in the order asked for
  int dropped_blocks = 0;             ///< left out because of a fault of the harness
  int not_a_number = 0;               ///< values that were NaN and so count as absent
};

/// The arm's trials; nullptr when `observations` has no such arm.
const ArmObservations* find_arm(const Observations& observations, const std::string& name);

/// Whether one of its trials came to its end.
bool any_alive(const ArmObservations& arm);

/// Absent where the trial has no such role, or the role no such metric.
std::optional<double> value_of(const Observation& trial, const std::string& role,
                               const std::string& metric);

/// Of its trials that are ok and have the metric, in the order of the blocks.
std::vector<double> values_of(const ArmObservations& arm, const std::string& role,
                              const std::string& metric);

/// Measure trials of `arms`; a block with a harness fault or a dropped trial is left out for all
/// arms. The first max(warmup_rounds, 2, 20 %) rounds do not count for growth, the first
/// warmup_rounds not for the medians of durations.
Observations observe(const std::vector<TrialData>& trials, const JobFacts& job,
                     const std::vector<std::string>& arms, int warmup_rounds);
inline Observations observe(const RunData& run, const std::vector<std::string>& arms,
                            int warmup_rounds) {
  return observe(run.trials, run.job, arms, warmup_rounds);
}

/// How many of `rounds` rounds growth leaves out.
size_t growth_warmup(size_t rounds, int warmup_rounds);

/// Whether a process has a round after those of warm-up, or is one round as a whole. One that has
/// not gets no metric by the round.
bool has_rounds_to_judge(const RoleData& role, int warmup_rounds);

/// Whether so many rounds leave the three that a slope needs.
bool has_slope(size_t rounds, int warmup_rounds);

/// The superblock, two blocks each, to which a measure block (1, 2, …) belongs.
constexpr int superblock_of(int block) {
  return (block - 1) / 2;
}

}  // namespace memduel
