// What a duel of some size can see, from the noise it has shown: whole blocks are drawn again from
// the observed ones, with the arms exchanged by chance within each, and the real test's interval is
// taken.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/random.h"
#include "analysis/shift_test.h"

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

/// Shift of either sign that a test at level `alpha` over `blocks` blocks finds with probability
/// kPower. Drawn `draws` times; the answer carries the sampling error of a quantile of 2 * draws
/// values.
double detectable_shift(const Noise& noise, int blocks, Design design, double alpha, int draws,
                        Random& random);

/// Number of blocks expected to settle a row with this effect, margin and level: to show a
/// direction where the effect reaches the margin, else to show that it stays inside. Half the width
/// of an interval falls with the square root of the blocks. Nothing beyond 1,000 blocks: the effect
/// is then too close to the margin for any practical number.
std::optional<int> blocks_to_settle(double effect, double margin, int blocks,
                                    double detectable_at_alpha, double detectable_at_two_alpha);

}  // namespace memduel
