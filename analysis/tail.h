// What a location test cannot see: "rarely much worse".
#pragma once

#include <span>
#include <vector>

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

}  // namespace memduel
