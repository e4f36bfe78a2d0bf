// The random order in which the arms run: the same on every machine and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memduel {

/// The order in which the warm-up block, or the last block of an odd number, runs its arms: a
/// permutation of 0..arms-1, uniform over all. Different for every `number`.
std::vector<std::size_t> block_order(std::uint64_t seed, int number, std::size_t arms);

/// The order of a superblock, two blocks: every arm twice, uniform over all such orders,
/// independent between numbers. For two arms, whatever the places of the others, the six orders are
/// equally likely. An arm's first place belongs to the first block. The exact test rests on this;
/// see docs/method.md.
std::vector<std::size_t> superblock_order(std::uint64_t seed, int number, std::size_t arms);

}  // namespace memduel
