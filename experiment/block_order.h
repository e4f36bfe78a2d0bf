// The random order of arms within a block: the same on every machine and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memduel {

/// The order in which block `block` (0 is the warm-up block) runs its arms: a permutation of
/// 0..arms-1, uniform over all, independent between blocks. Randomised order is what the exact test
/// rests on; see docs/method.md.
std::vector<std::size_t> block_order(std::uint64_t seed, int block, std::size_t arms);

}  // namespace memduel
