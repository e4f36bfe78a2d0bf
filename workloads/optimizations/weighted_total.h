// Values collect_all and in_time of switch aggregate: the weighted mean of NVFlare's
// WeightedAggregationHelper. The total starts as the first state times its weight, then takes in
// weight × state in place; the mean is the total over the sum of the weights. Every entry alike,
// integers and batch-norm statistics too; integers are cut back to their type at the end.
#pragma once

#include <string>

#include "workloads/federated/state.h"

namespace memduel {

class WeightedTotal {
 public:
  /// Adds a state whose tensors have the names and order of the first; each is let go of once it is
  /// added. @param client for messages. Throws Error(cannot_measure) for a value that is not
  /// finite.
  void add(State state, double weight, const at::Device& device, const std::string& client);

  /// The mean, with the element types of `like`, which has the same order; the total starts anew.
  /// The weights' sum must be positive.
  State take_mean(const State& like);

  void clear();

 private:
  State total_;
  double weights_ = 0;
};

}  // namespace memduel
