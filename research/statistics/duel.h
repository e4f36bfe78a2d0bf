// Simulated comparisons: the noise of memory from run to run as generators of whole sessions, and
// one simulated row through the code that judges real ones.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "stats/samples.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"

namespace memduel::bench {

inline constexpr int kMostBlocks = 16;  ///< of an experiment with interim looks

constexpr double kBaseBytes = 540.0 * 1048576;  ///< resident set of a ResNet18 round

/// One trial's value, before what its arm does to it. `trial` counts from 0 over the session;
/// `second` of its two neighbours.
struct TrialPlace {
  int trial = 0;
  int trials = 0;
  bool second = false;
  bool candidate = false;
};

/// Noise with a state of its own for each session.
using NoiseSource = std::function<double(const TrialPlace&, Random&)>;
using MakeNoise = std::function<NoiseSource(Random&)>;

struct Shape {
  std::string name;
  MakeNoise make;
};

/// normal, bimodal, quantised, skewed, drifting.
const std::vector<Shape>& shapes();

/// A session of `blocks` blocks in a restricted order, in which b's true effect is a factor of 1 +
/// change. kMostBlocks are drawn up to each interim analysis.
RowValues make_session(const MakeNoise& noise, int blocks, double change, Random& random);
/// The same in a given order, which rows of one run share.
RowValues make_session(const MakeNoise& noise, int blocks, double change, Random& random,
                       std::uint64_t order_seed);

/// The first so many blocks of a session, whole segments.
RowValues first_blocks(const RowValues& session, int blocks);

/// Identical normal noise of 1%, the second neighbour higher by so many standard deviations.
MakeNoise position_noise(double deviations);

/// peak_rss_bytes of a session, measured and not yet decided.
MeasuredRow measure(RowValues session, std::optional<double> noise_floor = std::nullopt);

/// The same, decided alone with the whole level.
DecidedRow judge(RowValues session, std::optional<double> noise_floor = std::nullopt);

/// improved or regressed.
bool flagged(const DecidedRow& row);

/// How often something held.
struct Count {
  int hits = 0;
  int of = 0;

  [[nodiscard]] double share() const { return static_cast<double>(hits) / of; }
  /// Whether the rate is not shown to be above `limit`: the one-sided 99.9% lower bound (Clopper
  /// and Pearson) does not exceed it.
  [[nodiscard]] bool at_most(double limit) const;
};

/// Adds up what `once` counts over the repetitions, on all cores; the same for every number of
/// them. `once` adds 0 or 1 to each counter.
std::vector<Count> repeated(int repetitions, std::uint64_t seed, std::size_t counters,
                            const std::function<void(Random&, std::vector<int>&)>& once);

}  // namespace memduel::bench
