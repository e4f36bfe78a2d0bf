// What a location test cannot see: "rarely much worse".
#pragma once

#include <span>
#include <vector>

#include "analysis/values/interval.h"

namespace memduel {

struct DistinctValue {
  double value = 0;
  int count = 0;
};

struct Tail {
  double maximum = 0;
  std::vector<DistinctValue> distinct;  ///< ascending
};

/// At least one value.
Tail tail(std::span<const double> values);

/// Upper 95 % bound of the share of trials above a ceiling after `exceeded` of n did (Clopper and
/// Pearson, Biometrika 26, 1934, one-sided): 1 - 0.05^(1/n) after none.
double exceedance_bound(int exceeded, int n);

/// Two-sided 95 % interval of a probability after `hits` of n (Clopper and Pearson 1934).
Interval clopper_pearson(int hits, int n);

}  // namespace memduel
