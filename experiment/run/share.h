// A part of a run's plan: machines that each do one do the run together.
#pragma once

#include <string>

namespace memduel {

/// One of `of` parts, counted from 1.
struct Share {
  int number = 1;
  int of = 1;
};

/// Superblocks, counted from 0; the first belongs to it, the end does not.
struct SuperblockRange {
  int first = 0;
  int end = 0;

  [[nodiscard]] int blocks() const { return 2 * (end - first); }
};

/// "2/4". Throws Error(usage) at `place` for anything else.
Share share_from(const std::string& text, const std::string& place);
std::string to_text(const Share& share);

/// The superblocks of a share of a run of so many blocks. The same on every machine; shares differ
/// by one superblock at most, and all of them together are the run. Throws Error(usage) for an odd
/// number of blocks, and for more shares than superblocks.
SuperblockRange superblocks_of(const Share& share, int blocks);

}  // namespace memduel
