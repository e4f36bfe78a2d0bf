// How many blocks a run takes: the least before any verdict is possible, the interim analyses at
// which an adaptive run may end, and the power of a run of some size.
//
// Interim analyses: each may spend a share of the error rate. The shares add up to the whole level
// (union bound), so the plan holds whatever the dependence between them.
//
// Power: what a duel of some size can see, from the noise it has shown. Whole blocks are drawn
// again from the observed ones, with the arms exchanged by chance within each, and the shift is
// estimated from them as from the real ones.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/run_data.h"
#include "stats/hypothesis_tests.h"
#include "stats/samples.h"

namespace memduel {

/// The least number of trials of each variant with which the test of one of `comparisons` that
/// share `level` can reach its part of it, whatever the values are. A comparison is a gate of a
/// candidate.
int least_trials(int comparisons, Design design, double level = kAlpha);

struct Look {
  int blocks = 0;
  double alpha = kAlpha;
};

using LookPlan = std::vector<Look>;  ///< ascending in blocks

/// One look with the whole level.
LookPlan fixed_looks(int blocks);

/// One candidate: 6, 10 and 16 blocks with .02, .015 and .015. More: 8 and 16 with .025 each.
LookPlan adaptive_looks(std::size_t candidates);
/// Those of earlier versions, whose order was not restricted: 6, 8, 12 and 16 blocks with .01, .01,
/// .015 and .015.
LookPlan earlier_looks();

/// The segments of a run's order, by which it is drawn: up to each look, or those of `repeats`
/// blocks; of a run in shares, each share's by themselves.
std::vector<int> planned_segments(std::optional<int> repeats, std::size_t candidates,
                                  int shares = 1);

struct CheckedLooks {
  LookPlan looks;
  std::vector<Note> limitations;  ///< one for each look that was refused
};

/// The smallest p that a test can reach after so many blocks.
using SmallestP = std::function<double(int)>;

/// Refuses looks at which no test could reach its level: where the smallest p of that many blocks,
/// corrected for `comparisons`, exceeds alpha. A refused look's alpha goes to the next one. The
/// last look always stays.
CheckedLooks check_looks(const LookPlan& plan, int comparisons, const SmallestP& smallest);

/// The level to use with this many complete blocks: the look's own at a planned look; what was not
/// yet spent when the run ended in between for reasons outside the data (a time limit).
double alpha_at(const LookPlan& plan, int blocks);

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
/// blocks; `half_width` is that of the interval of these blocks, which can be wider than the
/// scatter suggests. Nothing beyond kMostUsefulBlocks.
std::optional<int> blocks_to_settle(const EstimateScatter& scatter, double effect, double margin,
                                    int blocks, Design design, double alpha, double half_width);

}  // namespace memduel
