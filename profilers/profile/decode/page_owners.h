// Gives every resident page of a snapshot an owner: the pages that the kernel showed laid over the
// blocks and mappings that were live.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "page_records.h"
#include "profile/profile.h"

namespace memduel {

/// A live block or mapping.
struct LiveRange {
  AddressRange at;
  std::uint32_t site = 0;
};

struct OwnedBytes {
  double bytes = 0;
  double ranges = 0;  ///< blocks or mappings that have a share of them
};

/// By site of the ranges, those without any among them.
using OwnedBySite = std::vector<OwnedBytes>;

struct PageOwners {
  OwnedBySite live;
  OwnedBySite pinned;
  OwnedBySite mapping;
  OwnedBySite untouched_blocks;
  OwnedBySite untouched_mappings;
  std::vector<ResidentPart> others;  ///< what has no stack
};

/// The private memory of a forked process as it began, by address.
struct MemoryAtFork {
  std::vector<AddressRange> mapped;
  std::vector<AddressRange> resident;  ///< pages that its parent had in memory
};

/// What the ranges are of, besides the pages themselves.
struct LiveSet {
  std::vector<LiveRange> blocks;
  std::vector<LiveRange> mappings;  ///< of the program itself, by address
  bool forked = false;              ///< blocks of the parent are not among them
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::optional<MemoryAtFork> at_fork = {};  ///< earlier recorders did not write it
};

/// In this order: the recorder's, stacks, live blocks and what they pin, mappings of the program,
/// files, the allocator's, and the rest. The free bytes of a page are shared by the live blocks
/// on it: between two blocks by both, half each.
///
/// A forked process inherits the pages that its parent had in memory at the fork, as far as no
/// block or mapping of its own lies on them: the rest of a page with its own blocks, too, which may
/// hold its parent's. All other pages are its own. Where nothing was written about the fork, all
/// pages without a block or mapping of its own count as inherited.
///
/// Where the pages of a mapping are more than the
/// kernel counts for it, those that are no file's are counted for as much less: pages of zeros,
/// which an older kernel does not tell apart.
PageOwners owners_of(const ResidentPages& pages, LiveSet live);

}  // namespace memduel
