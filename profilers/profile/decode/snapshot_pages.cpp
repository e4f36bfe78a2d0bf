#include "profilers/profile/decode/snapshot_pages.h"

#include <tsl/robin_map.h>

#include <cstdint>
#include <utility>

#include "profilers/profile/decode/snapshot_stacks.h"

namespace memduel {

namespace {

bool has_fact(const Profile& profile, const char* key, const char* value) {
  const auto fact = profile.info.find(key);
  return fact != profile.info.end() && fact->second == value;
}

MemoryAtFork memory_in(const ResidentPages& pages) {
  MemoryAtFork memory;
  for (const ResidentMapping& mapping : pages.mappings) {
    memory.mapped.push_back(mapping.at);
    for (const PageRun& run : mapping.runs) memory.resident.push_back(run.at);
  }
  return memory;
}

}  // namespace

void SnapshotPages::read_fork(TraceCursor& cursor) {
  if (is_fork_lost_) return;
  if (!at_fork_) at_fork_.emplace();
  at_fork_->read(cursor);
}

std::vector<LiveRange> SnapshotPages::live(const LiveBlocks& blocks) {
  const bool glibc = has_fact(*profile_, "block_bytes", "glibc_chunk");
  if (!pages_.tells_blocks) return blocks.ranges(glibc);
  tsl::robin_map<std::uint64_t, std::uint32_t> sites;  // by node and round
  std::vector<LiveRange> ranges;
  ranges.reserve(pages_.blocks.size());
  for (const ToldBlock& block : pages_.blocks) {
    if (block.node >= profile_->stacks.size()) continue;  // its stack is lost with a damaged block
    const std::uint64_t key = block.node | static_cast<std::uint64_t>(block.round)
                                               << 32U;  // nodes in the lowest bits
    const auto [site, made] =
        sites.try_emplace(key, static_cast<std::uint32_t>(told_births_.size()));
    if (made) told_births_.push_back({static_cast<std::uint32_t>(block.node), block.round, 0, 0});
    ranges.push_back(
        {range_of_block(block.address, block.size + block.extra, glibc), site->second});
  }
  return ranges;
}

void SnapshotPages::find_owners(const LiveBlocks& blocks, const LiveMappings& mappings) {
  if (pages_.mappings.empty()) return;
  LiveSet all{live(blocks), mappings.ranges(), has_fact(*profile_, "forked", "yes")};
  if (at_fork_) all.at_fork = memory_in(*at_fork_);
  owners_ = owners_of(pages_, std::move(all));
}

void SnapshotPages::finish(std::size_t first_mapping_site) {
  if (!owners_) return;
  SnapshotBirths births;
  for (std::size_t i = 0; i < profile_->sites.size(); ++i) {
    const AllocationSite& site = profile_->sites[i];
    (i < first_mapping_site ? births.blocks : births.mappings)
        .push_back({site.stack, site.round, site.phase, site.thread});
  }
  if (pages_.tells_blocks) births.blocks = std::move(told_births_);
  add_snapshot(*profile_, pages_, *owners_, births);
  drop_unused_stacks(*profile_);
}

}  // namespace memduel
