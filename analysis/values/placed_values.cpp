#include "analysis/values/placed_values.h"

#include <cmath>
#include <map>
#include <utility>

namespace memduel {
namespace {

struct Neighbours {
  const PlacedValue* first = nullptr;
  const PlacedValue* second = nullptr;
};

/// Those of which both have a finite value.
std::vector<Neighbours> finite_neighbours(std::span<const PlacedValue> values) {
  std::map<int, Neighbours> pairs;
  for (const PlacedValue& value : values) {
    if (value.side == 0) continue;
    Neighbours& pair = pairs[value.neighbours];
    (value.side < 0 ? pair.first : pair.second) = &value;
  }
  std::vector<Neighbours> finite;
  for (const auto& [number, pair] : pairs) {
    if (pair.first == nullptr || pair.second == nullptr) continue;
    if (std::isfinite(pair.first->value) && std::isfinite(pair.second->value))
      finite.push_back(pair);
  }
  return finite;
}

}  // namespace

std::vector<double> neighbour_differences(std::span<const PlacedValue> values, double delta) {
  const auto level = [delta](const PlacedValue& one) {
    return one.candidate ? one.value - delta : one.value;
  };
  std::vector<double> differences;
  for (const Neighbours& pair : finite_neighbours(values))
    differences.push_back(level(*pair.second) - level(*pair.first));
  return differences;
}

PositionEffect position_effect(std::span<const PlacedValue> values) {
  double sum = 0;
  double candidates = 0;
  int count = 0;
  int equal = 0;
  for (const Neighbours& pair : finite_neighbours(values)) {
    ++count;
    equal += static_cast<int>(pair.first->value == pair.second->value);
    sum += pair.second->value - pair.first->value;
    candidates += static_cast<double>(pair.second->candidate) - pair.first->candidate;
  }
  if (count == 0 || 2 * equal >= count) return {};
  return {sum / count, candidates / count};
}

std::vector<std::vector<std::size_t>> superblocks_of(std::span<const PlacedValue> values) {
  std::map<int, std::vector<std::size_t>> by_number;
  for (std::size_t i = 0; i < values.size(); ++i) by_number[values[i].superblock].push_back(i);
  std::vector<std::vector<std::size_t>> superblocks;
  superblocks.reserve(by_number.size());
  for (auto& [number, indices] : by_number) superblocks.push_back(std::move(indices));
  return superblocks;
}

}  // namespace memduel
