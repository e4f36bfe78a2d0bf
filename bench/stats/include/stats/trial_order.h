// The random order in which the arms run: the same on every machine and standard library, so that
// the analysis knows the order of a run from its seed.
//
// A segment is the blocks up to the next interim analysis, at most eight. Its superblocks are drawn
// until no candidate lies much later than the baseline, nor at other places of the neighbours
// (restricted randomisation: Grundy and Healy, J. Agric. Sci. 40, 1950; Bailey and Rowley, Proc. R.
// Soc. A 410, 1987). The exact test uses the orders that pass, and no others: accepted_deals().
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "stats/samples.h"

namespace memduel {

/// Arms 0..arms-1 by place: each twice in a superblock, once in a single block.
using TrialOrder = std::vector<std::size_t>;

/// The order in which the warm-up block, or the last block of an odd number, runs its arms: a
/// permutation of 0..arms-1, uniform over all. Different for every `number`.
TrialOrder block_order(std::uint64_t seed, int number, std::size_t arms);

/// The order of a superblock, two blocks: every arm twice, uniform over all such orders,
/// independent between numbers. An arm's first place belongs to the first block.
TrialOrder superblock_order(std::uint64_t seed, int number, std::size_t arms);

/// How far a candidate's places are from the baseline's, summed over the superblocks of a segment;
/// places are counted within the pair.
struct Imbalance {
  int drift = 0;   ///< twice the places by which the candidate runs later
  int parity = 0;  ///< places of even number less places of odd number, candidate minus baseline

  Imbalance& operator+=(const Imbalance& other) {
    drift += other.drift;
    parity += other.parity;
    return *this;
  }
  [[nodiscard]] bool is_accepted() const;
};

Imbalance imbalance_of(const TrialOrder& order, std::size_t baseline, std::size_t candidate);

/// The candidates whose places are restricted: all of up to three. With more, the restrictions of
/// each would leave the others too few orders to decide anything.
std::vector<std::size_t> restricted_candidates(std::size_t arms, std::size_t baseline);

/// What an order is drawn from.
struct OrderPlan {
  std::uint64_t seed = 1;
  std::size_t arms = 2;
  std::size_t baseline = 0;
  /// Blocks of the segments, in the order of their superblocks. All but the last are even.
  std::vector<int> segments;
};

/// A run of so many blocks without interim analysis: 12 are 6 and 6, 10 are 6 and 4.
std::vector<int> segments_of(int blocks);

/// How many orders of two arms are accepted in a segment of so many blocks.
int accepted_orders(int blocks);

/// Superblocks that are drawn together.
struct Segment {
  int first = 0;  ///< number of its first superblock
  std::vector<TrialOrder> superblocks;
};

/// The segment of a superblock. Those after the plan's last, which a run has where blocks were
/// dropped, are segments by themselves, of so many blocks.
Segment segment_at(const OrderPlan& plan, int superblock, int blocks_beyond = 2);

/// All segments of the plan.
std::vector<Segment> segments_of(const OrderPlan& plan);

// The reference set of the exact test: every exchange of the two arms' labels on their own places
// for which the whole order would still have been accepted, so that all of them were equally likely
// when the order was drawn. Places without a value keep their label.

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
