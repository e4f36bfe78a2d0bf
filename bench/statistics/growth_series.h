// Series of one run's memory over rounds, with what is true of each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/values/random.h"

namespace memduel::bench {

/// What a run's series shares with the other runs of its session.
struct SeriesPlace {
  int rounds = 100;
  double noise_bytes = 0;
  double phase = 0;  ///< 0 … 1, of what repeats or jumps; the same in all runs when in phase
};

enum class GrowthTruth {
  bounded,
  unbounded,
  undecidable  ///< the rounds that are there look like both
};

struct GrowthShape {
  std::string name;
  GrowthTruth truth = GrowthTruth::bounded;
  bool in_phase = true;      ///< whether all runs have one phase
  bool told_inside = false;  ///< it resets or bends within the rounds, so that it must be told
  std::function<std::vector<double>(const SeriesPlace&, Random&)> series;
  bool must_be_found = false;  ///< in 90 % of sessions
};

/// Every shape that is judged over so many rounds.
std::vector<GrowthShape> growth_shapes(int rounds);

/// Those that are judged for a horizon of a hundred times their rounds.
std::vector<GrowthShape> growth_shapes_for_long_jobs();

}  // namespace memduel::bench
