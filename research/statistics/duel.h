// The noise that memory shows from run to run, as generators of whole sessions.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "analysis/values/random.h"
#include "analysis/verdicts/row_values.h"

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

/// Identical normal noise of 1 %, the second neighbour higher by so many standard deviations.
MakeNoise position_noise(double deviations);

}  // namespace memduel::bench
