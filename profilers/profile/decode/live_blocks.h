// What is live while a trace is replayed, by its address: blocks of malloc, and mappings.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "live_heap.h"
#include "page_owners.h"

namespace memduel {

/// Where a replay is.
struct Moment {
  int round = 0;
  std::uint32_t phase = 0;
  std::uint32_t thread = 0;
  std::uint32_t stretch = 0;  ///< between two marks
};

struct LiveBlock {  // small: each live block has one
  std::uint64_t size = 0;
  double interval = 0;  ///< mean of the draw that made it a sample; 0: every block is recorded
  std::uint32_t site = 0;
  std::uint32_t stretch = 0;
  std::uint32_t extra = 0;  ///< what the allocator set aside beyond `size`
};

/// How many blocks a sample stands for, and how sure that is.
Estimate weigh(const LiveBlock& block);

/// What the allocator set aside for a block. `glibc`: with a header in front of it.
AddressRange range_of_block(std::uint64_t address, std::uint64_t bytes, bool glibc);

class LiveBlocks {
 public:
  /// `together` must outlive this.
  explicit LiveBlocks(TogetherPeak& together) : together_(together) {}
  [[nodiscard]] LiveHeap& heap() { return heap_; }

  /// What was asked for; the fields are those of LiveBlock.
  struct Request {
    std::uint64_t size = 0;
    std::uint32_t extra = 0;
    double interval = 0;
  };
  /// Returns what the block stands for.
  Estimate allocate(std::uint64_t address, const Request& request, std::uint32_t stack,
                    const Moment& now);
  /// Returns the block; absent for one that the trace does not know, which is normal: it was born
  /// before the recorder.
  std::optional<LiveBlock> free(std::uint64_t address, const Moment& now);
  /// Takes back the free of a block.
  void revive(std::uint64_t address, const LiveBlock& block, const Moment& now);
  /// What is live now, in any order. `glibc`: a block's extra begins with the header in front of
  /// it.
  [[nodiscard]] std::vector<LiveRange> ranges(bool glibc) const;
  /// Blocks whose free went past the recorder.
  [[nodiscard]] std::int64_t reborn() const { return reborn_; }

 private:
  /// Spreads the upper bits of an address, whose lowest are zero, over all bits of a slot's number.
  struct AddressHash {
    std::size_t operator()(std::uint64_t address) const {
      const std::uint64_t product = address * 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio
      return product ^ (product >> 32);
    }
  };
  void remove(const LiveBlock& block, const Moment& now);

  TogetherPeak& together_;
  LiveHeap heap_{Heap::malloc};
  tsl::robin_map<std::uint64_t, LiveBlock, AddressHash> blocks_;
  std::int64_t reborn_ = 0;
};

class LiveMappings {
 public:
  /// `together` must outlive this.
  explicit LiveMappings(TogetherPeak& together) : together_(together) {}
  [[nodiscard]] LiveHeap& heap() { return heap_; }

  void map(std::uint64_t address, std::uint64_t size, std::uint32_t stack, const Moment& now);
  /// Cuts [from, to) out of the mappings. A part that goes takes its bytes with it; the mapping
  /// counts as gone with its last part.
  void unmap(std::uint64_t from, std::uint64_t to, const Moment& now);
  /// Of what is mapped in [from, to) `touched` bytes are in memory: all of one mapping or less.
  void touch(std::uint64_t from, std::uint64_t to, std::uint64_t touched);
  /// What is mapped now in mappings of which no look told how much is touched.
  [[nodiscard]] double unknown_bytes() const;
  /// Nothing is unmapped any more. Of what is mapped still, the last looks count.
  void finish();
  /// What is mapped now, by address.
  [[nodiscard]] std::vector<LiveRange> ranges() const;

 private:
  struct Mapping {
    std::uint64_t end = 0;
    std::uint32_t site = 0;
    std::uint32_t stretch = 0;
    double counted = 0;           ///< in the peak of both heaps
    bool is_unknown = false;      ///< may be untouched, and nobody looked yet
    bool is_dense = false;        ///< below kSparseBytes when it was mapped: counts whole
    std::uint64_t born = 0;       ///< after this change of both heaps
    int looks = 0;                ///< at a dense one: more than one where pages were given back
    AddressRange looked_at = {};  ///< by the last look
    double untouched = 0;         ///< of looked_at
  };
  /// Of a part of a dense mapping that goes now, or is there at the end.
  void leave_out_untouched(Mapping& mapping, const AddressRange& part);
  void count(Mapping& mapping, double bytes);

  TogetherPeak& together_;
  LiveHeap heap_{Heap::mapped};
  std::map<std::uint64_t, Mapping> mappings_;
};

}  // namespace memduel
