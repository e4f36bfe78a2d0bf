// The random order in which the arms run: the same on every machine and standard library, so that
// the analysis knows the order of a run from its seed.
//
// A segment is the blocks up to the next interim analysis, at most eight. Its superblocks are drawn
// until no candidate lies much later than the baseline, nor at other places of the neighbours
// (restricted randomisation: Grundy and Healy, J. Agric. Sci. 40, 1950; Bailey and Rowley, Proc. R.
// Soc. A 410, 1987). The exact test uses the orders that pass, and no others: label_swaps.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace memduel
