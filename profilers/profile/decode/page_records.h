// What a snapshot wrote of a process, as it stands in the blocks of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/recorded_files.h"
#include "util/bytes.h"

namespace memduel {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Resident pages, one after the other.
struct PageRun {
  AddressRange at;
  bool file = false;  ///< a file's or shared memory's; a private copy of a file's page is not
};

struct ResidentMapping {
  AddressRange at;
  std::uint32_t flags = 0;           ///< MappingFlag
  std::uint64_t resident_bytes = 0;  ///< by smaps
  std::uint64_t alone_bytes = 0;     ///< of these, mapped by no other process
  std::string name;                  ///< of a file, or the kernel's: [heap], [stack]
  std::vector<PageRun> runs;
};

/// A live block of a run whose events are samples.
struct ToldBlock {
  std::uint64_t node = 0;
  std::uint64_t size = 0;
  std::uint32_t extra = 0;  ///< beyond `size`
  int round = 0;            ///< of its birth
  std::uint64_t address = 0;
};

struct ResidentPages {
  std::int64_t time_ns = 0;
  int round = 0;
  std::string phase;
  bool tells_blocks = false;  ///< else the events before tell what is live
  std::vector<ToldBlock> blocks;
  std::vector<ResidentMapping> mappings;  ///< by address
  std::vector<std::uint64_t> stacks;      ///< an address near the top of each
  std::vector<AddressRange> own;          ///< the recorder's
  std::vector<AddressRange> allocator;    ///< mapped by the allocator
  std::vector<AddressRange> arenas;       ///< glibc's, but for the first
  std::uint64_t resident_bytes = 0;       ///< by smaps_rollup
  std::uint64_t swapped_bytes = 0;
  std::uint64_t hugetlb_bytes = 0;
  std::uint64_t nanoseconds = 0;
  bool zeros_apart = false;

  /// Adds the records of a block. Throws std::out_of_range when one makes no sense.
  void read(TraceCursor& cursor);

 private:
  void take(const recorder::pages::Begin& record);
  void take(const recorder::pages::Mapping& record);
  void take(const recorder::pages::Pages& record);
  void take(const recorder::pages::Stack& record) { stacks.push_back(record.address); }
  void take(const recorder::pages::Own& record);
  void take(const recorder::pages::Allocator& record);
  void take(const recorder::pages::Arena& record);
  void take(const recorder::pages::Block& record);
  void take(const recorder::pages::End& record);
};

}  // namespace memduel
