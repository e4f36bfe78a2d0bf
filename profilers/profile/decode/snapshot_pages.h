// The snapshot of resident memory in a trace, from its blocks to its rows in the profile.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "live_blocks.h"
#include "page_owners.h"
#include "page_records.h"
#include "profile/profile.h"
#include "profile/recorded_files.h"

namespace memduel {

class SnapshotPages {
 public:
  /// `profile` must outlive this.
  explicit SnapshotPages(Profile& profile) : profile_(&profile) {}

  /// Adds the records of a block. Throws std::out_of_range when one makes no sense.
  void read(TraceCursor& cursor) { pages_.read(cursor); }
  /// Adds the records of a block of a forked process's beginning, likewise.
  void read_fork(TraceCursor& cursor);
  /// Nothing is known of the fork, whatever follows: a block of it makes no sense.
  void drop_fork() {
    at_fork_.reset();
    is_fork_lost_ = true;
  }
  /// Once all is read: the owners of the pages, of what is live at this place of the trace.
  void find_owners(const LiveBlocks& blocks, const LiveMappings& mappings);
  /// Adds what each owns to the profile, whose sites are there: those of blocks, then, from
  /// `first_mapping_site` on, those of mappings. Nothing where no owners were found.
  void finish(std::size_t first_mapping_site);

 private:
  std::vector<LiveRange> live(const LiveBlocks& blocks);

  Profile* profile_;
  ResidentPages pages_;
  std::optional<ResidentPages> at_fork_;
  bool is_fork_lost_ = false;
  std::optional<PageOwners> owners_;
  std::vector<Birth> told_births_;  ///< of its blocks, where it tells them itself
};

}  // namespace memduel
