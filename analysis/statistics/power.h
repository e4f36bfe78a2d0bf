// What a duel of some size can see, from the noise it has shown: whole blocks are drawn again from
// the observed ones, with the arms exchanged by chance within each, and the shift is estimated from
// them as from the real ones.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/shift_test.h"
#include "analysis/values/random.h"

namespace memduel {

/// Pairs on the working scale with the shift between the arms taken out: what is left is noise.
struct Noise {
  std::vector<double> a;
  std::vector<double> b;
};

/// Nothing with infinite values or fewer than five of either. Unpaired samples of different size
/// are cut to the shorter.
std::optional<Noise> noise_of(std::span<const double> a, std::span<const double> b);

constexpr double kPower = 0.8;

/// How estimates of no shift scatter over duels of one size.
struct EstimateScatter {
  double error = 0;      ///< standard deviation
  double largest80 = 0;  ///< size that kPower of them stay below, to one side
};

EstimateScatter scatter_of(const Noise& noise, int blocks, int draws, Random& random);

/// Shift of either sign that a duel of `blocks` blocks calls with probability kPower at level
/// `alpha`: its interval must exclude zero (Student's, which the exact tests follow closely) and
/// its estimate reach `margin`. Nothing where no data of this size reach the level.
std::optional<double> detectable_shift(const EstimateScatter& scatter, int blocks, Design design,
                                       double alpha, double margin);

constexpr int kMostUsefulBlocks = 64;  ///< nobody runs more to settle a row

/// Number of blocks expected to settle a row with this effect, margin and level: to show a
/// direction where the effect reaches the margin, with a p that so many blocks can reach, else to
/// show that it stays inside. Half the width of an interval falls with the square root of the
/// blocks. Nothing beyond kMostUsefulBlocks.
std::optional<int> blocks_to_settle(const EstimateScatter& scatter, double effect, double margin,
                                    int blocks, Design design, double alpha);

}  // namespace memduel
