// Which of the values that every sample of a pprof file has become which amounts of a profile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace memduel {

struct PprofType {
  std::string_view type;  ///< "inuse_space"
  std::string_view unit;  ///< "bytes"
};

/// What is done with one value of every sample.
struct PprofColumn {
  std::size_t value = 0;  ///< its number
  ProfileKind kind = ProfileKind::allocated;
  double Estimate::* amount = &Estimate::bytes;
  double each = 1;  ///< bytes or nanoseconds
};

struct PprofColumns {
  std::vector<PprofColumn> columns;
  ProfileUnit unit = ProfileUnit::bytes;
  bool counted = false;
  std::string amounts;  ///< for people; empty for those of a heap
};

/// `types` is not empty. Of types that no heap has, `preferred` (or the last one, as pprof chooses)
/// with the counts of samples beside it.
PprofColumns choose_pprof_columns(const std::vector<PprofType>& types, std::string_view preferred);

/// The variance of an amount, and of a heap its count of samples. The file's values are scaled
/// already: undone, they say how many samples they rest on. Blocks of size z are sampled with
/// p = 1 - exp(-z / period); of time every sample stands for one period.
void estimate_pprof_variance(Estimate& amount, ProfileUnit unit, double period);

}  // namespace memduel
