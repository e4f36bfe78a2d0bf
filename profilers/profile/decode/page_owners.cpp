#include "page_owners.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace memduel {
namespace {

/// From the head of a thread's robust futexes to the end of its descriptor, at most.
constexpr std::uint64_t kDescriptorRest = 0x700;

std::uint64_t page_down(std::uint64_t address) {
  return address / kPageBytes * kPageBytes;
}
std::uint64_t page_up(std::uint64_t address) {
  return page_down(address + kPageBytes - 1);
}

AddressRange overlap(const AddressRange& a, const AddressRange& b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

double extent(const AddressRange& range) {
  return static_cast<double>(range.end - range.begin);
}

void sort_by_address(std::vector<AddressRange>& ranges) {
  std::ranges::sort(ranges, {}, &AddressRange::begin);
}

/// The first of `ranges`, which are sorted and apart, that ends after `address`.
template <class Ranges, class End>
auto first_after(const Ranges& ranges, std::uint64_t address, End end) {
  return std::ranges::upper_bound(ranges, address, {}, end);
}

/// Names that the kernel or a program makes up, another one in each run, are one. memfd's stay.
bool is_shared_memory(const std::string& path) {
  return path == "/dev/zero" || path.starts_with("/dev/shm/") || path.starts_with("/SYSV");
}

std::string file_name(const std::string& path) {
  const std::string whole = path.ends_with(" (deleted)") ? path.substr(0, path.size() - 10) : path;
  if (is_shared_memory(whole)) return kSharedMemory;
  const std::string name = std::filesystem::path(whole).filename().string();
  return name.empty() ? whole : name;
}

bool is_file(const ResidentMapping& mapping) {
  return !mapping.name.empty() && mapping.name.front() != '[';
}

/// The stacks of threads but for the first, whose mapping has a name.
std::vector<AddressRange> stacks_in(const ResidentPages& pages) {
  std::vector<AddressRange> stacks;
  for (const std::uint64_t head : pages.stacks) {
    const auto mapping =
        first_after(pages.mappings, head, [](const ResidentMapping& of) { return of.at.end; });
    if (mapping == pages.mappings.end() || head < mapping->at.begin || is_file(*mapping)) continue;
    stacks.push_back(
        {mapping->at.begin, std::min(mapping->at.end, page_up(head + kDescriptorRest))});
  }
  sort_by_address(stacks);
  return stacks;
}

std::size_t sites_of(const std::vector<LiveRange>& ranges) {
  std::size_t sites = 0;
  for (const LiveRange& range : ranges) sites = std::max<std::size_t>(sites, range.site + 1);
  return sites;
}

void tell_untouched(const std::vector<LiveRange>& ranges, const OwnedBySite& touched,
                    OwnedBySite& untouched) {
  untouched.resize(touched.size());
  for (const LiveRange& range : ranges) {
    OwnedBytes& owned = untouched[range.site];
    owned.bytes += extent(range.at);
    owned.ranges += 1;
  }
  for (std::size_t site = 0; site < untouched.size(); ++site) {
    untouched[site].bytes -= touched[site].bytes;
    if (untouched[site].bytes < static_cast<double>(kPageBytes)) untouched[site] = {};
  }
}

class Ownership {
 public:
  Ownership(const ResidentPages& pages, LiveSet live)
      : pages_(pages),
        live_(std::move(live)),
        own_(pages.own),
        allocator_(pages.allocator),
        arenas_(pages.arenas),
        stacks_(stacks_in(pages)),
        at_fork_(live_.at_fork.value_or(MemoryAtFork{})) {
    sort_by_address(own_);
    sort_by_address(allocator_);
    sort_by_address(arenas_);
    owners_.live.resize(sites_of(live_.blocks));
    owners_.pinned.resize(owners_.live.size());
    owners_.mapping.resize(sites_of(live_.mappings));
    std::ranges::sort(live_.blocks, {}, [](const LiveRange& block) { return block.at.begin; });
  }

  PageOwners owners() {
    for (const ResidentMapping& mapping : pages_.mappings) {
      mapping_ = &mapping;
      weight_of_mapping();
      for (const PageRun& run : mapping.runs) own_run(run);
      share_inherited();
    }
    tell_untouched(live_.blocks, owners_.live, owners_.untouched_blocks);
    tell_untouched(live_.mappings, owners_.mapping, owners_.untouched_mappings);
    for (const auto& [key, bytes] : others_)
      owners_.others.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), bytes});
    return std::move(owners_);
  }

 private:
  void weight_of_mapping() {
    double file = 0;
    double anonymous = 0;
    for (const PageRun& run : mapping_->runs) (run.file ? file : anonymous) += extent(run.at);
    const double counted = static_cast<double>(mapping_->resident_bytes) - file;
    anonymous_weight_ = anonymous > counted ? std::max(0.0, counted) / anonymous : 1;
  }

  /// `counted`: the last range that was counted there; a range comes back in parts, which are
  /// neighbours.
  void add(OwnedBySite& to, const LiveRange& range, double bytes, const LiveRange*& counted) {
    OwnedBytes& owned = to[range.site];
    owned.bytes += bytes * weight_;
    if (counted != &range) owned.ranges += 1;
    counted = &range;
  }

  /// Of one page.
  void pin(const LiveRange& by, const AddressRange& part, double bytes) {
    if (was_resident_at_fork(part.begin)) {
      inherit(bytes);
    } else {
      add(owners_.pinned, by, bytes, counted_pin_);
    }
  }

  void inherit(double bytes) { inherited_ += bytes * weight_; }

  [[nodiscard]] bool was_resident_at_fork(std::uint64_t address) const {
    const auto range = first_after(at_fork_.resident, address, &AddressRange::end);
    return range != at_fork_.resident.end() && range->begin <= address;
  }

  void add(PageOwner owner, const std::string& name, const std::string& share, double bytes) {
    if (bytes > 0) others_[{owner, name, share}] += bytes * weight_;
  }

  void own_run(const PageRun& run) {
    file_ = run.file;
    weight_ = run.file ? 1 : anonymous_weight_;
    if (file_name(mapping_->name).starts_with("libmemduel_recorder.so"))
      return add(PageOwner::recorder, {}, {}, extent(run.at));
    cut_out(own_, PageOwner::recorder, {}, run.at, [this](const AddressRange& rest) {
      cut_out(stacks_, PageOwner::stack, kOtherThreads, rest,
              [this](const AddressRange& left) { own_by_blocks(left); });
    });
  }

  /// Calls `within` with the parts of `whole` that lie in `ranges`, `rest` with those between.
  template <class Within, class Rest>
  void split(const std::vector<AddressRange>& ranges, const AddressRange& whole, Within within,
             Rest rest) {
    std::uint64_t at = whole.begin;
    for (auto range = first_after(ranges, at, &AddressRange::end);
         range != ranges.end() && range->begin < whole.end; ++range) {
      const AddressRange mine = overlap(*range, {at, whole.end});
      if (mine.begin == mine.end) continue;
      if (at < mine.begin) rest(AddressRange{at, mine.begin});
      within(mine);
      at = mine.end;
    }
    if (at < whole.end) rest(AddressRange{at, whole.end});
  }

  /// Gives `owner` what lies in `ranges`, and the parts between to `rest`.
  template <class Rest>
  void cut_out(const std::vector<AddressRange>& ranges, PageOwner owner, const std::string& name,
               const AddressRange& whole, Rest rest) {
    split(
        ranges, whole, [&](const AddressRange& mine) { add(owner, name, {}, extent(mine)); }, rest);
  }

  /// Takes what a forked process inherited, and gives `rest` what is its own.
  template <class Rest>
  void cut_inherited(const AddressRange& whole, Rest rest) {
    const auto take = [&](const AddressRange& mine) { inherit(extent(mine)); };
    if (live_.forked && !live_.at_fork) return take(whole);
    split(at_fork_.resident, whole, take, rest);
  }

  void own_by_blocks(const AddressRange& run) {
    std::uint64_t at = run.begin;
    const LiveRange* before = nullptr;
    while (block_ < live_.blocks.size() && live_.blocks[block_].at.begin < run.end) {
      const LiveRange& block = live_.blocks[block_];
      const AddressRange mine = overlap(block.at, {at, run.end});
      if (mine.begin < mine.end) {
        own_gap({at, mine.begin}, before, &block);
        add(owners_.live, block, extent(mine), counted_block_);
        at = mine.end;
        before = &block;
      }
      if (block.at.end > run.end) break;  // it goes on in the next run
      ++block_;
    }
    own_gap({at, run.end}, before, nullptr);
  }

  /// Between two live blocks, or a block and an end of the run.
  void own_gap(AddressRange gap, const LiveRange* before, const LiveRange* after) {
    if (gap.begin == gap.end) return;
    const bool begins_inside = before != nullptr && gap.begin % kPageBytes != 0;
    const bool ends_inside = after != nullptr && gap.end % kPageBytes != 0;
    if (begins_inside && ends_inside && page_down(gap.begin) == page_down(gap.end)) {
      pin(*before, gap, extent(gap) / 2);
      pin(*after, gap, extent(gap) / 2);
      return;
    }
    if (begins_inside) {
      const std::uint64_t edge = std::min(gap.end, page_up(gap.begin));
      pin(*before, gap, extent({gap.begin, edge}));
      gap.begin = edge;
    }
    if (ends_inside && gap.begin < gap.end) {
      const std::uint64_t edge = std::max(gap.begin, page_down(gap.end));
      pin(*after, {edge, gap.end}, extent({edge, gap.end}));
      gap.end = edge;
    }
    if (gap.begin < gap.end) own_by_mappings(gap);
  }

  /// Pages without a live block.
  void own_by_mappings(const AddressRange& pages) {
    std::uint64_t at = pages.begin;
    for (auto range =
             first_after(live_.mappings, at, [](const LiveRange& of) { return of.at.end; });
         range != live_.mappings.end() && range->at.begin < pages.end; ++range) {
      const AddressRange mine = overlap(range->at, {at, pages.end});
      if (mine.begin == mine.end) continue;
      own_by_kind({at, mine.begin});
      add(owners_.mapping, *range, extent(mine), counted_mapping_);
      at = mine.end;
    }
    own_by_kind({at, pages.end});
  }

  /// The kernel joins what an allocator maps with the variables of a library below it.
  void own_by_file(const AddressRange& pages) {
    const bool shared = (mapping_->flags & recorder::kMappingShared) != 0;
    const auto add_file = [&](const AddressRange& rest) {
      add(PageOwner::file, file_name(mapping_->name), file_ || shared ? kShared : kPrivateCopy,
          extent(rest));
    };
    if (file_) return add_file(pages);
    const auto own = [&](const AddressRange& rest) {
      cut_out(allocator_, PageOwner::free, kAllocatorMappings, rest, add_file);
    };
    if (!live_.at_fork) return own(pages);
    cut_inherited(pages, own);
  }

  void own_by_kind(const AddressRange& pages) {
    if (pages.begin == pages.end) return;
    const ResidentMapping& mapping = *mapping_;
    if (is_file(mapping)) return own_by_file(pages);
    if (mapping.name.starts_with("[stack"))
      return add(PageOwner::stack, kMainThread, {}, extent(pages));
    cut_inherited(pages, [this](const AddressRange& rest) { own_by_allocator(rest); });
  }

  void own_by_allocator(const AddressRange& pages) {
    const std::string& name = mapping_->name;
    if (name == "[heap]") return add(PageOwner::free, kProgramBreak, {}, extent(pages));
    cut_out(arenas_, PageOwner::free, kFurtherArenas, pages, [&](const AddressRange& left) {
      cut_out(allocator_, PageOwner::free, kAllocatorMappings, left, [&](const AddressRange& more) {
        cut_out(at_fork_.mapped, PageOwner::mapped, kMappedBeforeFork, more,
                [&](const AddressRange& rest) {
                  add(PageOwner::other, name.empty() ? "anonymous" : name, {}, extent(rest));
                });
      });
    });
  }

  /// What other processes map as well is the parent's still; the rest has been written to since.
  void share_inherited() {
    const double others =
        static_cast<double>(mapping_->resident_bytes) - static_cast<double>(mapping_->alone_bytes);
    const double shared = std::clamp(others, 0.0, inherited_);
    weight_ = 1;
    add(PageOwner::inherited, kSharedWithOthers, {}, shared);
    add(PageOwner::inherited, kOwnCopy, {}, inherited_ - shared);
    inherited_ = 0;
  }

  const ResidentPages& pages_;
  LiveSet live_;
  std::vector<AddressRange> own_;
  std::vector<AddressRange> allocator_;
  std::vector<AddressRange> arenas_;
  std::vector<AddressRange> stacks_;
  MemoryAtFork at_fork_;
  std::map<std::tuple<PageOwner, std::string, std::string>, double> others_;
  PageOwners owners_;
  const ResidentMapping* mapping_ = nullptr;
  double anonymous_weight_ = 1;
  double weight_ = 1;  ///< of the running run
  bool file_ = false;  ///< likewise
  const LiveRange* counted_block_ = nullptr;
  const LiveRange* counted_pin_ = nullptr;
  const LiveRange* counted_mapping_ = nullptr;
  double inherited_ = 0;   ///< of the running mapping
  std::size_t block_ = 0;  ///< the first that may reach beyond what was seen
};

}  // namespace

PageOwners owners_of(const ResidentPages& pages, LiveSet live) {
  return Ownership(pages, std::move(live)).owners();
}

}  // namespace memduel
