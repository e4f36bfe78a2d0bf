// Samples of a run, thinned to what a screen can show: per bucket the smallest and the largest
// value, so that no peak is lost.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/run_data.h"

namespace memduel {

/// Smallest and largest value per bucket of a common grid; both vectors have the same length.
struct Envelope {
  int first = 0;  ///< the bucket that low[0] and high[0] belong to
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
};

struct TrialTimeline {
  std::int64_t trial = 0;
  Envelope by_time;   ///< bucket i covers seconds [i, i + 1) * seconds_per_bucket of the trial
  Envelope by_round;  ///< bucket i covers positions first_position + [i, i + 1) *
                      ///< rounds_per_bucket; empty without rounds
};

/// A stretch both in seconds since the trial's start and in rounds: position 3.5 is half-way
/// between the beginnings of rounds 3 and 4.
struct Span {
  std::pair<double, double> seconds;  ///< begin and end
  std::pair<double, double> position;
};

struct PhaseSpan : Span {
  std::string phase;
};

struct RoundSpan : Span {
  int round = 0;
  std::vector<PhaseSpan> phases;
};

/// When an arm's rounds and phases typically begin and end: medians over its trials.
struct ArmRounds {
  std::string arm;
  std::vector<RoundSpan> rounds;
};

/// One series of one role over all measure trials.
struct RoleTimeline {
  std::string role;
  std::string metric;
  double seconds_per_bucket = 0;
  double rounds_per_bucket = 0;
  double first_position = 0;  ///< one round before the first, for the start-up where it was sampled
  int time_buckets = 0;
  int round_buckets = 0;
  std::string rounds_of;  ///< the role whose marks give the rounds; empty without rounds
  std::vector<TrialTimeline> trials;
  std::vector<ArmRounds> arms;
};

/// Timelines of every role and series that a measure trial has, roles in order of appearance.
/// @param bucket_budget upper bound of buckets over all envelopes together; at least 100 each.
std::vector<RoleTimeline> build_timelines(const RunData& run, int bucket_budget);

}  // namespace memduel
