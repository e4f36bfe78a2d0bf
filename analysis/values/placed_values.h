// The values of one row with their places in the design of superblocks: two blocks at a time, every
// arm twice, in uniformly random order.
#pragma once

#include <span>
#include <vector>

namespace memduel {

/// One trial of one of the two arms of a row. The trials of both arms in a superblock, in the order
/// in which they ran, are taken as neighbours two by two: first and second.
struct PlacedValue {
  double value = 0;
  bool candidate = false;
  int superblock = 0;
  int neighbours = 0;  ///< number of the pair of neighbours; unique over all superblocks
  double side = 0;     ///< -0.5 for the first of its neighbours, 0.5 for the second, 0 without
};

/// What the second of two neighbours has more than the first, as a line over the shift `delta` of
/// the candidate's values: base - slope * delta. Labels are not looked at when delta is 0.
struct PositionEffect {
  double base = 0;
  double slope = 0;
};

/// The mean over neighbours that both have a finite value; none when most of them are equal, so
/// that ties stay ties.
PositionEffect position_effect(std::span<const PlacedValue> values);

/// Second minus first of all neighbours that both have a finite value, the candidate's lowered by
/// `delta`.
std::vector<double> neighbour_differences(std::span<const PlacedValue> values, double delta);

/// The superblocks, each as the indices of its values.
std::vector<std::vector<std::size_t>> superblocks_of(std::span<const PlacedValue> values);

}  // namespace memduel
