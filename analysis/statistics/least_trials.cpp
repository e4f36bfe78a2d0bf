#include "analysis/statistics/least_trials.h"

namespace memduel {

int least_trials(int comparisons, Design design, double level) {
  int trials = kMinimumBlocks;
  while (smallest_p(trials, design) * comparisons > level) ++trials;
  return trials;
}

}  // namespace memduel
