// The reference set of the exact test: every exchange of the two arms' labels on their own places
// for which the whole order would still have been accepted, so that all of them were equally likely
// when the order was drawn. Places without a value keep their label.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "analysis/statistics/trial_order.h"
#include "analysis/values/placed_values.h"

namespace memduel {

/// Two arms by their numbers in the order.
struct ArmPair {
  std::size_t baseline = 0;
  std::size_t candidate = 1;
};

/// A place of one of two arms in a segment. An arm's n-th place in a superblock is of its n-th
/// block.
struct PairPlace {
  int block = 0;  ///< from 1
  bool candidate = false;
};

/// The places whose block counts, in the order in which they run, and how their labels could have
/// been dealt: bit i of a deal is of place i.
struct PairDeals {
  std::vector<PairPlace> places;
  std::vector<std::uint32_t> deals;
};

/// @param restricted_from the arm against which the order restricts all others.
/// @param blocks those in which both arms have a value; what runs in others keeps its label, and
/// stays what is left out.
PairDeals accepted_deals(const Segment& segment, std::size_t arms, std::size_t restricted_from,
                         const ArmPair& pair, const std::set<int>& blocks);

/// Runs of earlier versions drew the orders of each superblock alone: all deals of its labels.
std::vector<LabelSwaps> swaps_within_superblocks(std::span<const PlacedValue> values);

/// How many ways there are.
double count_of(std::span<const LabelSwaps> swaps);

/// The smallest p that any values can reach over these swaps, that of two sets of values without
/// overlap; 1 where nothing can be swapped.
double smallest_p(std::span<const PairDeals> segments);

}  // namespace memduel
