// The pages of a snapshot and their owners as amounts by stack, in a profile.

#include "snapshot_pages.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live_heap.h"
#include "page_owners.h"
#include "profile/profile.h"

namespace memduel {

/// Births by site of the ranges that were live.
struct SnapshotBirths {
  std::vector<Birth> blocks;
  std::vector<Birth> mappings;
};

/// Fills profile.resident. Adds a node for each owner at the root, below it the stacks of what it
/// owns, and sites for these. A stack whose subtree owns less than kLeastShare of the program's
/// resident memory, or less than a page, is told as its caller's: a program has hundreds of
/// thousands of small blocks from its start, each with a stack of its own.
void add_snapshot(Profile& profile, const ResidentPages& pages, const PageOwners& owners,
                  const SnapshotBirths& births);

inline constexpr double kLeastShare = 1.0 / 20000;

/// Takes out what no site needs: nodes of blocks that were told as their callers'.
void drop_unused_stacks(Profile& profile);

namespace {

/// Stacks of what one owner has, those of little told as their callers'.
class OwnedStacks {
 public:
  OwnedStacks(const Profile& profile, const std::vector<Birth>& births, const OwnedBySite& owned,
              double least_bytes)
      : told_as_(profile.stacks.size(), 0) {
    const std::vector<double> subtree = subtrees(profile, births, owned);
    // A parent has a smaller number than its children.
    for (std::uint32_t node = 1; node < told_as_.size(); ++node)
      told_as_[node] = subtree[node] < least_bytes ? told_as_[profile.stacks[node].parent] : node;
    for (std::size_t site = 0; site < owned.size(); ++site) {
      const OwnedBytes& amount = owned[site];
      if (amount.ranges == 0) continue;
      const Birth& birth = births[site];
      Estimate& sum = amounts_[{told_as_[birth.stack], birth.round, birth.phase, birth.thread}];
      sum += Estimate{amount.bytes, amount.ranges, 0, 1};
    }
  }

  /// Calls `visit(birth, amount)`.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [key, amount] : amounts_)
      visit(Birth{std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key)}, amount);
  }

 private:
  /// Bytes of each node and all below it.
  static std::vector<double> subtrees(const Profile& profile, const std::vector<Birth>& births,
                                      const OwnedBySite& owned) {
    std::vector<double> bytes(profile.stacks.size(), 0);
    for (std::size_t site = 0; site < owned.size(); ++site)
      if (owned[site].ranges > 0) bytes[births[site].stack] += owned[site].bytes;
    for (std::size_t node = bytes.size(); node-- > 1;)
      bytes[profile.stacks[node].parent] += bytes[node];
    return bytes;
  }

  std::vector<std::uint32_t> told_as_;  ///< by node: itself, or the caller that stands for it
  std::map<std::tuple<std::uint32_t, int, std::uint32_t, std::uint32_t>, Estimate> amounts_;
};

class SnapshotStacks {
 public:
  SnapshotStacks(Profile& profile, ResidentSnapshot& snapshot)
      : profile_(profile),
        snapshot_(snapshot),
        least_bytes_(
            std::max(static_cast<double>(kPageBytes), snapshot.kernel_bytes * kLeastShare)) {}

  /// What has stacks.
  void add(PageOwner owner, const OwnedBySite& owned, const std::vector<Birth>& births) {
    double sum = 0;
    for (const OwnedBytes& amount : owned) sum += amount.bytes;
    if (sum <= 0) return;
    snapshot_.parts.push_back({owner, {}, {}, sum});
    add_sites(owner, owned, births, snapshot_.sites);
  }

  void add_untouched(PageOwner owner, const OwnedBySite& owned, const std::vector<Birth>& births) {
    add_sites(owner, owned, births, snapshot_.untouched);
  }

  /// What has none.
  void add(const ResidentPart& part) {
    snapshot_.parts.push_back(part);
    if (part.owner == PageOwner::recorder) return;
    const bool is_file = part.owner == PageOwner::file;
    std::uint32_t node =
        child_of(0, is_file ? "file:" + part.name : std::string(to_name(part.owner)));
    if (!is_file && !part.name.empty()) node = child_of(node, part.name);
    if (!part.share.empty()) node = child_of(node, part.share);
    add_site({node, 0, 0, 0}, {part.bytes, 0, 0, 1}, snapshot_.sites);
  }

 private:
  void add_sites(PageOwner owner, const OwnedBySite& owned, const std::vector<Birth>& births,
                 LiveSites& to) {
    const std::uint32_t root = child_of(0, std::string(to_name(owner)));
    const OwnedStacks stacks(profile_, births, owned, least_bytes_);
    stacks.each([&](Birth birth, const Estimate& amount) {
      birth.stack = below(root, birth.stack);
      add_site(birth, amount, to);
    });
  }

  void add_site(const Birth& birth, const Estimate& amount, LiveSites& to) {
    AllocationSite site;
    site.stack = birth.stack;
    site.round = birth.round;
    site.phase = birth.phase;
    site.thread = birth.thread;
    to.emplace_back(static_cast<std::uint32_t>(profile_.sites.size()), amount);
    profile_.sites.push_back(site);
  }

  /// The stack with `root` in the place of node 0.
  std::uint32_t below(std::uint32_t root, std::uint32_t stack) {
    way_.clear();
    for (; stack != 0; stack = profile_.stacks[stack].parent) way_.push_back(stack);
    std::unordered_map<std::uint32_t, std::uint32_t>& copies = copies_[root];
    std::uint32_t node = root;
    for (; !way_.empty(); way_.pop_back()) {
      const auto [copy, made] = copies.emplace(way_.back(), 0);
      if (made) copy->second = add_node(node, profile_.stacks[way_.back()].location);
      node = copy->second;
    }
    return node;
  }

  std::uint32_t child_of(std::uint32_t parent, const std::string& name) {
    const auto [known, made] = named_.emplace(std::pair{parent, name}, 0);
    if (made) {
      ProfileLocation location;
      location.kind = ProfileLocation::Kind::owner;
      location.names.push_back({name, {}, 0});
      profile_.locations.push_back(std::move(location));
      known->second = add_node(parent, static_cast<std::uint32_t>(profile_.locations.size() - 1));
    }
    return known->second;
  }

  std::uint32_t add_node(std::uint32_t parent, std::uint32_t location) {
    profile_.stacks.push_back({parent, location});
    return static_cast<std::uint32_t>(profile_.stacks.size() - 1);
  }

  Profile& profile_;
  ResidentSnapshot& snapshot_;
  double least_bytes_;
  std::map<std::uint32_t, std::unordered_map<std::uint32_t, std::uint32_t>> copies_;  ///< by root
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> named_;
  std::vector<std::uint32_t> way_;
};

/// Keeps those of `values` that are needed; where they went by their old number.
template <class Value>
std::vector<std::uint32_t> keep_needed(std::vector<Value>& values,
                                       const std::vector<bool>& needed) {
  std::vector<std::uint32_t> moved(values.size(), 0);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = kept;
    if (kept != i) values[kept] = std::move(values[i]);
    ++kept;
  }
  values.resize(kept);
  return moved;
}

}  // namespace

void add_snapshot(Profile& profile, const ResidentPages& pages, const PageOwners& owners,
                  const SnapshotBirths& births) {
  ResidentSnapshot snapshot;
  snapshot.time_ns = pages.time_ns;
  snapshot.round = pages.round;
  snapshot.phase = pages.phase;
  snapshot.kernel_bytes = static_cast<double>(pages.resident_bytes);
  snapshot.swapped_bytes = static_cast<double>(pages.swapped_bytes);
  snapshot.hugetlb_bytes = static_cast<double>(pages.hugetlb_bytes);
  snapshot.seconds = static_cast<double>(pages.nanoseconds) * 1e-9;
  snapshot.zeros_apart = pages.zeros_apart;
  SnapshotStacks stacks(profile, snapshot);
  stacks.add(PageOwner::live, owners.live, births.blocks);
  stacks.add(PageOwner::fragmentation, owners.pinned, births.blocks);
  stacks.add(PageOwner::mapped, owners.mapping, births.mappings);
  for (const ResidentPart& part : owners.others) stacks.add(part);
  stacks.add_untouched(PageOwner::live, owners.untouched_blocks, births.blocks);
  stacks.add_untouched(PageOwner::mapped, owners.untouched_mappings, births.mappings);
  std::ranges::stable_sort(snapshot.parts, [](const ResidentPart& a, const ResidentPart& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.bytes > b.bytes;
  });
  profile.resident = std::move(snapshot);
}

void drop_unused_stacks(Profile& profile) {
  std::vector<bool> needed(profile.stacks.size(), false);
  needed[0] = true;
  for (const AllocationSite& site : profile.sites) needed[site.stack] = true;
  std::vector<bool> needed_locations(profile.locations.size(), false);
  for (std::size_t node = needed.size(); node-- > 1;) {
    if (!needed[node]) continue;
    needed[profile.stacks[node].parent] = true;
    needed_locations[profile.stacks[node].location] = true;
  }
  const std::vector<std::uint32_t> stacks = keep_needed(profile.stacks, needed);
  const std::vector<std::uint32_t> locations = keep_needed(profile.locations, needed_locations);
  for (std::size_t node = 1; node < profile.stacks.size(); ++node)
    profile.stacks[node] = {stacks[profile.stacks[node].parent],
                            locations[profile.stacks[node].location]};
  for (AllocationSite& site : profile.sites) site.stack = stacks[site.stack];
}

namespace {

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
  const bool glibc = profile_->fact("block_bytes") == "glibc_chunk";
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
  LiveSet all{live(blocks), mappings.ranges(), profile_->fact("forked") == "yes"};
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
